"use strict";

// Everything that chance decides on this page. Whole numbers only; chance comes from crypto.getRandomValues.
// An auditor may call these functions from the browser's console, as `cotally.toss([4n, 1n])`.
const cotally = Object.freeze((() => {
  const ALL = 1n << 64n;

  // A whole number uniform in 0 .. bound - 1. Of the 2^64 equally likely draws those beyond the last multiple of the
  // bound are thrown away, so that no number is likelier than another.
  function uniform(bound) {
    const limit = ALL - (ALL % bound);
    const draw = new BigUint64Array(1);
    do crypto.getRandomValues(draw); while (draw[0] >= limit);
    return draw[0] % bound;
  }

  // The number of a side: each with a chance in proportion to its whole number.
  function toss(sides) {
    let left = uniform(sides.reduce((sum, side) => sum + side, 0n));
    let number = 0;
    while (left >= sides[number]) {
      left -= sides[number];
      number += 1;
    }
    return number;
  }

  // One coin per block, and a personal answer for each question whose personal answer this page draws.
  function tossAll(survey) {
    const coins = survey.blocks.map((block) => toss(block.coin.map(BigInt)));
    const drawn = survey.columns.map(() => survey.noAnswer);
    for (const block of survey.blocks) {
      for (const question of block.questions) {
        if (question.drawn.length > 0) drawn[question.column] = toss(question.drawn.map(BigInt));
      }
    }
    return { coins, drawn };
  }

  // What is sent of one answer. A coin that shows 0 sends the truth.
  const responses = Object.freeze({
    direct: (truth) => truth,
    related: (truth, coin, size) => (truth + coin) % size,
    unrelated: (truth, coin, size, personal) => (coin === 0 ? truth : personal),
  });

  // What is sent, column by column; an answer that is not given is sent as such.
  function respond(survey, tossed, truths, personals) {
    const sent = survey.columns.map(() => survey.noAnswer);
    survey.blocks.forEach((block, number) => {
      for (const { column, drawn } of block.questions) {
        const personal = drawn.length > 0 ? tossed.drawn[column] : personals[column];
        if (truths[column] !== survey.noAnswer) {
          sent[column] = responses[block.kind](truths[column], tossed.coins[number], survey.columns[column], personal);
        }
      }
    });
    return sent;
  }

  // All that leaves this page, of the same length whatever is in it.
  function body(survey, code, sent) {
    const answers = sent.map((number) => number.toString(16).padStart(2, "0")).join("");
    return JSON.stringify({ format: "cotally-answer/1", survey: survey.survey, code, answers });
  }

  return { uniform, toss, tossAll, respond, body };
})());
