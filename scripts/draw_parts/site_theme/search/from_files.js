// A page that is opened from a file may neither fetch another file nor start a worker, which the search does. Scripts it may
// load: here the index is one, and what would run as a worker runs in a hidden frame.
if (location.protocol === "file:") {
  document.write(`<script src="${new URL("search_index.js", document.currentScript.src)}"><\/script>`);

  window.Worker = class extends EventTarget {
    constructor(script) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      // What the script posts is for the page.
      inside.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
      this.loaded = new Promise((resolve) => {
        const element = inside.document.createElement("script");
        element.onload = resolve;
        element.src = script;
        inside.document.body.append(element);
      });
    }

    postMessage(data) {
      this.loaded.then(() => this.frame.contentWindow.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
