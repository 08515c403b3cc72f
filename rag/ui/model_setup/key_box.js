// Gradio leaves `autocomplete` of a password box empty, so browsers would offer to fill in and to save the key.
requestAnimationFrame(() => document.querySelector("#model-key input")?.setAttribute("autocomplete", "off"));
