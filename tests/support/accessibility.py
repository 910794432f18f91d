"""What a page owes to people who do not see it, or not well: looked for in a real browser, by rules of our own."""

from selenium import webdriver

RULES = """
const found = [];
const tell = (rule, element) => found.push(rule + ': ' + element.outerHTML.slice(0, 80));
if (!document.documentElement.lang) found.push('the language is not told');
if (!document.title) found.push('the page has no title');
if (document.querySelectorAll('main').length !== 1) found.push('there is not one main part');
let level = 0;
for (const heading of document.querySelectorAll('h1, h2, h3, h4, h5, h6')) {
  const own = Number(heading.tagName[1]);
  if (own > level + 1) tell('a level of headings is left out', heading);
  if (!heading.textContent.trim()) tell('a heading is empty', heading);
  level = own;
}
if (document.querySelectorAll('h1').length !== 1) found.push('there is not one first heading');
for (const picture of document.querySelectorAll('svg:not([aria-hidden=true])')) {
  const named = picture.getAttribute('role') === 'img' && picture.getAttribute('aria-label');
  if (!named) tell('a picture has no name', picture);
}
for (const picture of document.querySelectorAll('img')) if (!picture.alt) tell('a picture has no name', picture);
const names = [...document.querySelectorAll('[role=region]')].map(region => region.getAttribute('aria-label'));
if (names.some(name => !name) || new Set(names).size !== names.length) found.push('two regions have one name, or none');
for (const part of document.querySelectorAll('section')) {
  const head = document.getElementById(part.getAttribute('aria-labelledby'));
  if (!head || !part.contains(head)) tell('a section is not named by its heading', part);
}
const marks = [...document.querySelectorAll('[id]')].map(element => element.id);
for (const mark of marks) if (marks.indexOf(mark) !== marks.lastIndexOf(mark)) found.push('an id comes twice: ' + mark);
for (const table of document.querySelectorAll('table')) {
  const heads = [...table.querySelectorAll('thead th')];
  const whole = heads.length && heads.every(head => head.scope === 'col' && head.textContent.trim());
  if (!whole) tell('a column has no head', table);
  for (const row of table.querySelectorAll('tbody tr')) {
    if (!row.querySelector('th[scope=row]')) tell('a row has no head', row);
    if (row.children.length !== heads.length) tell('a row has too many cells, or too few', row);
  }
}
for (const box of document.querySelectorAll('*')) {
  const scrolls = ['auto', 'scroll'].includes(getComputedStyle(box).overflowX);
  if (scrolls && box.scrollWidth > box.clientWidth && box.tabIndex < 0) tell('a part cannot be scrolled by keys', box);
}
const light = text => {
  const parts = text.match(/[\\d.]+/g).slice(0, 3).map(part => part / 255);
  const [r, g, b] = parts.map(part => part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = element => {
  for (let over = element; over; over = over.parentElement) {
    const colour = getComputedStyle(over).backgroundColor;
    if (!/, 0\\)$|transparent/.test(colour)) return colour;
  }
  return 'rgb(255, 255, 255)';
};
for (const element of document.querySelectorAll('body *')) {
  if (![...element.childNodes].some(child => child.nodeType === 3 && child.textContent.trim())) continue;
  if (!element.getClientRects().length || element.closest('title')) continue;
  const style = getComputedStyle(element);
  const [one, other] = [light(element.closest('svg') ? style.fill : style.color), light(ground(element))];
  if ((Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05) < 4.5) tell('a text is too pale', element);
}
return found;
"""


def shortcomings(browser: webdriver.Chrome) -> list[str]:
    """Return where the page that a browser shows breaks a rule."""
    return list(browser.execute_script(RULES))
