// The code of the link, which stands behind the # and is not sent when the page is loaded; or as it is typed.
const link = Object.freeze((() => {
  const clean = (text) => text.replace(/[\s-]/g, "").toUpperCase();
  const isCode = (text) => /^[A-Z2-7]{24}$/.test(text);
  const given = clean(location.hash.slice(1));
  addEventListener("hashchange", () => location.reload());

  function read(input) {
    return isCode(given) ? given : clean(input.value);
  }

  // Ask for the code where the link has none.
  function prepare(input) {
    input.closest(".code").hidden = isCode(given);
    input.required = !isCode(given);
  }

  // Send a body, and return the name of a text: "" if all is well.
  async function send(address, body) {
    try {
      const reply = await fetch(address, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body,
        cache: "no-store",
        credentials: "omit",
        redirect: "error",
        referrerPolicy: "no-referrer",
      });
      return reply.ok ? "" : `error_${(await reply.json()).error}`;
    } catch {
      return "error_unavailable";
    }
  }

  return { given, isCode, prepare, read, send };
})());
