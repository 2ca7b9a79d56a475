"use strict";
const root = document.getElementById("root");
const paper = /^\/paper\/(\d+)$/.exec(location.pathname);
const say = (n, tower) => `<p>The raven number ${n} of the ${tower} tower has seen ${3 * n + 1} winters.</p>`;
function show() {
  if (paper) {
    root.innerHTML = say(Number(paper[1]), "paper") + `<a href="/">back</a>`;
    return;
  }
  const n = Number((/^#\/view\/(\d+)$/.exec(location.hash) || [0, 0])[1]);
  root.innerHTML = say(n, "hashes") + (n ? `<a href="/paper/${n}">paper</a>` : "") + (n < 14 ? `<a href="#/view/${n + 1}">next view</a>` : "");
}
addEventListener("hashchange", show);
show();
