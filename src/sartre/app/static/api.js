// Requests to the server. The token in the page's address is the key; it goes into a header that no other site can set.

const token = new URLSearchParams(location.search).get("token") || "";
const headers = { "X-Sartre-Token": token };

async function answer(request) {
  let response;
  try {
    response = await request;
  } catch {
    throw new Error("The program has ended. Start `sartre app` again, and open the address that it prints.");
  }
  if (response.ok) return response;
  let said = null;
  try {
    said = (await response.json()).error;
  } catch { /* it was not JSON */ }
  throw new Error(said || `The server answered with ${response.status}.`);
}

const asJson = async (request) => (await answer(request)).json();

export const get = (path) => asJson(fetch(`/api/${path}`, { headers }));
export const remove = (path) => asJson(fetch(`/api/${path}`, { method: "DELETE", headers }));
export const send = (path, body) =>
  asJson(fetch(`/api/${path}`, { method: "POST", headers: { ...headers, "Content-Type": "application/json" }, body: JSON.stringify(body) }));
export const upload = (path, file) =>
  asJson(fetch(`/api/${path}?name=${encodeURIComponent(file.name)}`, { method: "POST", headers, body: file }));
export const blob = async (path) => (await answer(fetch(`/api/${path}`, { headers }))).blob();

// Hand a file to the browser.
export function save(content, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 60000);
}
