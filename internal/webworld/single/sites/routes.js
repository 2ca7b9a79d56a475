"use strict";
const say = (n) => `The raven number ${n} of the routes tower has seen ${3 * n + 1} winters.`;
const root = document.getElementById("root");
function show() {
  const at = /^\/birds\/(\d+)$/.exec(location.pathname);
  const n = at ? Number(at[1]) : 0;
  const links = n ? ["/", `/birds/${n % 30 + 1}`] : Array.from({length: 30}, (_, i) => `/birds/${i + 1}`);
  root.innerHTML = `<h1>Ravens</h1><p>${say(n)}</p><ul>${links.map((l) => `<li><a href="${l}">${l}</a></li>`).join("")}</ul>`;
}
document.addEventListener("click", (e) => {
  const a = e.target.closest("a");
  if (!a) return;
  e.preventDefault();
  history.pushState({}, "", a.href);
  show();
});
addEventListener("popstate", show);
setTimeout(show, 50);
