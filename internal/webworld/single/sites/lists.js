"use strict";
const root = document.getElementById("root");
const get = async (path) => (await fetch(path)).json();
const row = (i) => `<li>${i.text} <a href="${i.link}">more</a></li>`;
(async () => {
  const bird = /^\/bird\/(\d+)$/.exec(location.pathname);
  if (bird) {
    root.innerHTML = (await get("/api/bird/" + bird[1])).map(row).join("");
    return;
  }
  for (const group of await get("/api/groups")) {
    const list = document.createElement("ul");
    root.append(list);
    list.innerHTML = (await get("/api/group/" + group)).map(row).join("");
  }
})();
