"use strict";
const root = document.getElementById("root");
const entry = /^\/entry\/(\d+)$/.exec(location.pathname);
const row = (i) => `<article style="height: 180px"><p>${i.text}</p><a href="${i.link}">more</a></article>`;
if (entry) {
  fetch("/api/entry/" + entry[1]).then((r) => r.json()).then((list) => { root.innerHTML = list.map(row).join(""); });
} else {
  const end = document.createElement("div");
  end.textContent = "Loading";
  root.after(end);
  let part = 0, busy = false;
  new IntersectionObserver(async (seen) => {
    if (busy || !seen.some((s) => s.isIntersecting)) return;
    busy = true;
    const list = await (await fetch("/api/feed?part=" + part++)).json();
    root.insertAdjacentHTML("beforeend", list.map(row).join(""));
    if (list.length === 0) end.remove();
    busy = false;
  }).observe(end);
}
