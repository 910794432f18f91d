// The survey is closed: what this browser has kept of it goes.
kept.forget(JSON.parse(document.getElementById("survey").textContent).survey);
