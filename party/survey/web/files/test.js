// The second page: it applies the published model to the personal answers that this browser has kept, and sends one bit.
(() => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const texts = survey.texts;
  const byId = (id) => document.getElementById(id);
  const form = byId("answers");
  const PAUSE = 1000; // milliseconds from the click to the sending, whatever the bit is

  // What the first page kept under this code; null where it kept no personal answers.
  function keptOf(code) {
    try {
      const kept = JSON.parse(localStorage.getItem(`cotally ${survey.survey} ${code}`));
      const fits = survey.columns.every((size, column) => {
        const answer = kept.personals[column];
        return Number.isInteger(answer) && answer >= 0 && answer < size;
      });
      return fits ? kept : null;
    } catch {
      return null;
    }
  }

  // The bit's coin is tossed once per code and model, and kept: who sends again sends the same bit.
  function bitCoin(code, kept) {
    if (kept.tested?.round !== survey.round) {
      kept.tested = { round: survey.round, coin: cotally.toss(survey.coin.map(BigInt)) };
      localStorage.setItem(`cotally ${survey.survey} ${code}`, JSON.stringify(kept));
    }
    return kept.tested.coin;
  }

  function complain(text) {
    byId("problem").textContent = text;
  }

  async function submit() {
    const code = link.read(byId("code"));
    complain("");
    const kept = link.isCode(code) ? keptOf(code) : null;
    if (kept === null) {
      complain(link.isCode(code) ? texts.test_nothing : texts.error_unknown_code);
      return;
    }
    const label = kept.personals.length - 1;
    const found = model.predict(survey.model, kept.personals) === kept.personals[label];
    const said = (bitCoin(code, kept) === 0) === found;
    const body = JSON.stringify({ format: "cotally-bit/1", round: survey.round, code, bit: said ? "1" : "0" });
    byId("send").disabled = true;
    byId("state").textContent = texts.sending;
    await new Promise((resume) => setTimeout(resume, PAUSE));
    const problem = await link.send("test", body);
    byId("send").disabled = false;
    byId("state").textContent = "";
    if (problem) {
      complain(texts[problem] ?? texts.error_unavailable);
      return;
    }
    const words = (right) => (right ? texts.test_right : texts.test_wrong);
    byId("sent").textContent = texts.test_coin.replace("{said}", () => words(said)).replace("{found}", () => words(found));
    form.hidden = true;
    byId("done").hidden = false;
    byId("done").focus();
  }

  link.prepare(byId("code"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!byId("send").disabled) submit();
  });
  form.hidden = false;
})();
