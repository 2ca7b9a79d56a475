// Starts ReplayWeb.page's service worker, gives it this origin as a collection whose captures it asks for one by one, and opens a frame with a page.
"use strict";
const says = document.getElementById("says");
const query = new URLSearchParams(location.search);
const url = query.get("url") || "", at = query.get("at") || "";
const collection = "room-1"; // browsers keep it: another number when the message below changes
const csp = "default-src 'unsafe-eval' 'unsafe-inline' 'self' data: blob: mediastream:; form-action 'self'; object-src 'none'; frame-src data: about: blob: 'self'";

async function start() {
  if (!/^https?:\/\//.test(url) || !/^\d{14}$/.test(at)) {
    throw new Error("there is no address to show");
  }
  if (!navigator.serviceWorker) {
    throw new Error("this browser has no service workers here: they need HTTPS, or a loopback address");
  }
  await navigator.serviceWorker.register("/sw.js", { scope: "/" });
  const registration = await navigator.serviceWorker.ready;
  await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error("the service worker does not answer")), 20000);
    navigator.serviceWorker.addEventListener("message", (e) => {
      if (e.data.msg_type === "collAdded" && e.data.name === collection) {
        clearTimeout(timer);
        resolve();
      } else if (e.data.msg_type === "collProgress" && e.data.error) {
        clearTimeout(timer);
        reject(new Error(String(e.data.error)));
      }
    });
    navigator.serviceWorker.startMessages();
    const prefix = location.origin + "/room/get/";
    registration.active.postMessage({
      msg_type: "addColl", name: collection, skipExisting: true, type: "live", file: { sourceUrl: "proxy:" + prefix },
      extraConfig: { type: "live", prefix: prefix, isLive: false, archiveMod: "id_", noPostToGet: false, csp: csp },
    });
  });
  const frame = document.createElement("iframe");
  frame.name = "___wb_replay_top_frame";
  frame.title = "Archived page";
  frame.src = "/w/" + collection + "/" + at + "mp_/" + url;
  says.replaceWith(frame);
}

// The worker's script in the archived page says which page it shows: the page around this one gets it for its banner, and looks it up there.
window.addEventListener("message", (e) => {
  if (e.origin === location.origin && e.data && typeof e.data.url === "string" && (e.data.wb_type === "load" || e.data.wb_type === "replace-url")) {
    parent.postMessage({ shown: e.data.url, at: String(e.data.ts || "") }, "*");
  }
});

says.textContent = "Loading …";
start().catch((e) => { says.textContent = "Replay: " + e.message; });
