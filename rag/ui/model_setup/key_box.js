// Gradio leaves `autocomplete` of a password box empty, and browsers would offer to fill in and to keep the key.
requestAnimationFrame(() => document.querySelector("#model-key input")?.setAttribute("autocomplete", "off"));
