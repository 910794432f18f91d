// The second page: it applies the published model to the personal answers, which are given once more, and sends one bit.
(() => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const texts = survey.texts;
  const byId = (id) => document.getElementById(id);
  const form = byId("answers");
  const PAUSE = 1000; // milliseconds from the click to the sending, whatever the bit is

  // The bit is made once, as the response was: its coin is gone with the page.
  let made = null;

  function takeUp(code) {
    const { bit } = kept.read(survey.survey, code);
    if (bit?.round !== survey.round || typeof bit.said !== "boolean") return false;
    made = { said: bit.said, found: null };
    lock(true);
    return true;
  }

  function lock(hides) {
    form.querySelectorAll("fieldset").forEach((each) => { each.disabled = true; each.hidden = hides; });
    byId("made").hidden = false;
  }

  function make() {
    const personals = survey.columns.map((_, column) => {
      const input = form.querySelector(`input[name="p${column}"]:checked`);
      return input === null ? null : Number(input.value);
    });
    const found = model.predict(survey.model, personals) === personals[personals.length - 1];
    return { said: (cotally.toss(survey.coin.map(BigInt)) === 0) === found, found };
  }

  function keep(code) {
    kept.add(survey.survey, code, { bit: { round: survey.round, said: made.said } });
  }

  function showSent({ said, found }) {
    const words = (right) => (right ? texts.test_right : texts.test_wrong);
    const shown = found === null ? texts.test_again : texts.test_coin;
    byId("sent").textContent = shown.replace("{said}", () => words(said)).replace("{found}", () => words(found));
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
    const body = JSON.stringify({ format: "cotally-bit/1", round: survey.round, code, bit: made.said ? "1" : "0" });
    byId("send").disabled = true;
    byId("state").textContent = texts.sending;
    await new Promise((resume) => setTimeout(resume, PAUSE));
    const problem = await link.send("test", body);
    byId("send").disabled = false;
    byId("state").textContent = "";
    if (problem) {
      if (problem === "error_closed") kept.forget(survey.survey);
      byId("problem").textContent = texts[problem] ?? texts.error_unavailable;
      return;
    }
    showSent(made);
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
