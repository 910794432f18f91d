// The class that a model gives a record, as `cotally predict` does: ties go to the first.
const model = Object.freeze((() => {
  const first = (numbers) => numbers.indexOf(Math.max(...numbers));
  const logarithm = (number) => (number === null ? -Infinity : number);

  function ofTree(nodes, record) {
    let node = nodes[0];
    while (node.length > 1) node = nodes[node[1][record[node[0]]]];
    return node[0];
  }

  // Logarithms are whole numbers of grains, whose sums are exact. Where no class is possible, the commonest.
  function ofBayes({ prior, tables }, record) {
    const scores = prior.map(logarithm);
    tables.forEach((table, column) => {
      table[record[column]].forEach((number, label) => { scores[label] += logarithm(number); });
    });
    return scores.every((score) => score === -Infinity) ? first(prior.map(logarithm)) : first(scores);
  }

  const predict = (described, record) =>
    "nodes" in described ? ofTree(described.nodes, record) : ofBayes(described, record);

  return { predict };
})());
