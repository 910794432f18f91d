// The page: it takes the answers, and sends what the coins leave of them.
(() => {
  const survey = JSON.parse(document.getElementById("survey").textContent);
  const texts = survey.texts;
  const byId = (id) => document.getElementById(id);
  const form = byId("answers");
  const PAUSE = 1000; // milliseconds from the click to the sending, whatever the coins say

  // Coins are tossed once per link, before anything is answered, and kept in this browser: whoever sends again sends
  // by the same coins, so that nothing can be averaged.
  let memory = null;
  function coinsOf(code) {
    const name = `cotally ${survey.survey} ${code}`;
    try {
      const kept = JSON.parse(localStorage.getItem(name));
      if (fits(kept)) return kept;
      const tossed = cotally.tossAll(survey);
      localStorage.setItem(name, JSON.stringify(tossed));
      return tossed;
    } catch {
      byId("no-storage").hidden = false;
      memory ??= cotally.tossAll(survey);
      return memory;
    }
  }

  function fits(kept) {
    const within = (number, most) => Number.isInteger(number) && number >= 0 && number < most;
    return (
      kept !== null &&
      survey.blocks.every((block, number) => within(kept.coins[number], block.coin.length)) &&
      survey.blocks.every(({ questions }) =>
        questions.every(({ column, drawn }) => drawn.length === 0 || within(kept.drawn[column], drawn.length)))
    );
  }

  // Personal answers stay here for the second page; where this browser keeps nothing, there is none.
  function keep(code, tossed) {
    const personals = chosen("p");
    try {
      localStorage.setItem(`cotally ${survey.survey} ${code}`, JSON.stringify({ ...tossed, personals }));
    } catch {
      byId("no-storage").hidden = false;
    }
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
  function showSent(tossed, sent) {
    const list = byId("sent");
    list.replaceChildren();
    survey.blocks.forEach((block, number) => {
      const turned = tossed.coins[number] !== 0;
      const drawn = block.questions.some((question) => question.drawn.length > 0);
      const kind = block.kind === "direct" ? "direct" : !turned ? "truth" : drawn ? "drawn" : block.kind;
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
    const tossed = coinsOf(code);
    const sent = cotally.respond(survey, tossed, chosen("a"), chosen("p"));
    const body = cotally.body(survey, code, sent);
    byId("send").disabled = true;
    byId("state").textContent = texts.sending;
    await new Promise((resume) => setTimeout(resume, PAUSE));
    const problem = await link.send("answer", body);
    byId("send").disabled = false;
    byId("state").textContent = "";
    if (problem) {
      byId("problem").textContent = texts[problem] ?? texts.error_unavailable;
      return;
    }
    if (survey.keeps) keep(code, tossed);
    showSent(tossed, sent);
    form.hidden = true;
    byId("done").hidden = false;
    byId("done").focus();
  }

  link.prepare(byId("code"));
  if (link.isCode(link.given)) coinsOf(link.given);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (!byId("send").disabled) submit();
  });
  form.hidden = false;
})();
