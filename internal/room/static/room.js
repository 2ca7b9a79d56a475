// Keeps the banner of replay right when readers follow links in the frame. What the frame says is looked up in the catalogue.
"use strict";
const frame = document.querySelector("iframe[data-origin]");
const banner = document.getElementById("banner");
window.addEventListener("message", async (e) => {
  if (!frame || e.source !== frame.contentWindow || e.origin !== frame.dataset.origin || typeof e.data.shown !== "string") {
    return;
  }
  const query = new URLSearchParams({ url: e.data.shown, format: "json" });
  if (/^\d{14}$/.test(e.data.at)) {
    query.set("at", e.data.at);
  }
  const answer = await fetch("/replay?" + query);
  if (!answer.ok) {
    return;
  }
  const shown = await answer.json();
  banner.querySelector("time").textContent = shown.date.replace("T", " ").replace("Z", " UTC");
  banner.querySelector("time").dateTime = shown.date;
  banner.querySelector("[data-crawl]").textContent = shown.crawl;
  banner.querySelector("[data-run]").textContent = shown.run ? ", run " + shown.run : "";
  banner.querySelector("[data-url]").textContent = shown.url;
  banner.querySelector("[data-capture]").href = shown.address;
  banner.querySelector("[data-calendar]").href = shown.calendar;
});
