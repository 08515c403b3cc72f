// ---- A file that is sent with an event ----

// Packed, for a request may not be large; "" where the file still is.
async function pack(file) {
  if (file.size > 50_000_000) return "";
  const packed = await new Response(file.stream().pipeThrough(new CompressionStream("gzip"))).blob();
  const address = await new Promise((resolve) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result);
    reader.readAsDataURL(packed);
  });
  const base64 = address.slice(address.indexOf(",") + 1);
  return base64.length < 900_000 ? base64 : "";
}
