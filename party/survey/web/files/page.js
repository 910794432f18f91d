// The page: it takes the answers, and sends what the coins leave of them.
(() => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const texts = survey.texts;
  const byId = (id) => document.getElementById(id);
  const form = byId("answers");
  const PAUSE = 1000; // milliseconds from the click to the sending, whatever the coins say

  // A response is made once: the coins are tossed at the click, are in memory alone, and are gone with the page. It is
  // kept before it leaves, so that a browser that sends again sends the same, and two responses can never be compared.
  let made = null;
  let keptUnder = null;

  function keptResponse(code) {
    const { response } = kept.read(survey.survey, code);
    const fits = (number, column) =>
      Number.isInteger(number) && (number === survey.noAnswer || (number >= 0 && number < survey.columns[column]));
    return Array.isArray(response) && response.length === survey.columns.length && response.every(fits) ? response : null;
  }

  function make() {
    const tossed = cotally.tossAll(survey);
    return { sent: cotally.respond(survey, tossed, chosen("a"), chosen("p")), coins: tossed.coins };
  }

  // The response under a code that was mistyped is the response under the right one.
  function keep(code) {
    if (keptUnder !== null && keptUnder !== code) kept.forget(survey.survey, keptUnder);
    keptUnder = code;
    kept.add(survey.survey, code, { response: made.sent });
  }

  // From here on nothing that is chosen changes what is sent.
  function lock(hides) {
    form.querySelectorAll("fieldset").forEach((each) => { each.disabled = true; });
    form.querySelectorAll(".block").forEach((each) => { each.hidden = hides; });
    byId("made").hidden = false;
  }

  // Send by the response that is kept, if there is one, whatever is chosen; return whether there is.
  function takeUp(code) {
    const sent = keptResponse(code);
    if (sent === null) return false;
    made = { sent, coins: null };
    lock(true);
    return true;
  }

  const chosen = (letter) => survey.columns.map((_, column) => {
    const input = form.querySelector(`input[name="${letter}${column}"]:checked`);
    return input === null ? survey.noAnswer : Number(input.value);
  });

  function label(column, code, isPersonal) {
    const own = form.querySelector(`input[name="a${column}"][value="${code}"]`);
    const personal = form.querySelector(`input[name="p${column}"][value="${code}"]`);
    return (isPersonal && personal !== null ? personal : own).closest("label").textContent.trim();
  }

  // Which questions were answered, and how: for the respondent's eyes alone.
  function showSent({ sent, coins }) {
    const list = byId("sent");
    list.replaceChildren();
    survey.blocks.forEach((block, number) => {
      const turned = coins !== null && coins[number] !== 0;
      const drawn = block.questions.some((question) => question.drawn.length > 0);
      const fell = block.kind === "direct" ? "direct" : !turned ? "truth" : drawn ? "drawn" : block.kind;
      const kind = coins === null ? "again" : fell;
      for (const { column } of block.questions) {
        const line = document.createElement("li");
        const question = byId(`q${column}`).textContent;
        line.textContent = `${question}: ${label(column, sent[column], turned)} (${texts[`sent_${kind}`]})`;
        list.append(line);
      }
    });
  }

  async function submit() {
    const code = link.read(byId("code"));
    byId("problem").textContent = "";
    if (!link.isCode(code)) {
      byId("problem").textContent = texts.error_unknown_code;
      byId("code").focus();
      return;
    }
    if (made === null && takeUp(code)) return; // typed just now: it says so first
    if (made === null) {
      made = make();
      lock(false);
    }
    keep(code);
    const body = cotally.body(survey, code, made.sent);
    byId("send").disabled = true;
    byId("state").textContent = texts.sending;
    await new Promise((resume) => setTimeout(resume, PAUSE));
    const problem = await link.send("answer", body);
    byId("send").disabled = false;
    byId("state").textContent = "";
    if (problem) {
      if (problem === "error_closed") kept.forget(survey.survey);
      byId("problem").textContent = texts[problem] ?? texts.error_unavailable;
      return;
    }
    showSent(made);
    made.coins = null;
    form.hidden = true;
    byId("done").hidden = false;
    byId("done").focus();
  }

  byId("no-storage").hidden = kept.lasts();
  link.prepare(byId("code"));
  if (link.isCode(link.given)) takeUp(link.given);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!byId("send").disabled) submit();
  });
  form.hidden = false;
})();
