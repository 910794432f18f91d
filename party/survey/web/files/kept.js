// What this browser keeps of a survey under a code: what was sent, which the collector has, and neither coin nor answer.
const kept = Object.freeze((() => {
  const name = (survey, code) => `cotally ${survey} ${code}`;

  // Whether this browser keeps anything for this page.
  function lasts() {
    try {
      localStorage.setItem("cotally", "");
      localStorage.removeItem("cotally");
      return true;
    } catch {
      return false;
    }
  }

  function read(survey, code) {
    try {
      return JSON.parse(localStorage.getItem(name(survey, code))) ?? {};
    } catch {
      return {};
    }
  }

  // Keep more under a code, where this browser keeps anything.
  function add(survey, code, more) {
    try {
      const { response, bit } = { ...read(survey, code), ...more };
      localStorage.setItem(name(survey, code), JSON.stringify({ response, bit }));
    } catch {
      // the page has said so
    }
  }

  // Forget what is kept under a code, or of the whole survey.
  function forget(survey, code = "") {
    try {
      const names = Object.keys(localStorage).filter((each) => each.startsWith(name(survey, code)));
      names.forEach((each) => localStorage.removeItem(each));
    } catch {
      // there is nothing
    }
  }

  return { lasts, read, add, forget };
})());
