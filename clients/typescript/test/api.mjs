// An `om api` of the test's own, which it may kill and start again. TEST_API is its command, TEST_KEY a key, TEST_STORE_PID the store's process.
import { spawn } from "node:child_process";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

export const key = process.env.TEST_KEY;
export { sleep };

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  const { port } = server.address();
  await new Promise((done) => server.close(done));
  return port;
}

export async function until(holds, what, seconds = 30) {
  for (const end = Date.now() + seconds * 1000; ; await sleep(50)) {
    if (await holds()) return;
    if (Date.now() > end) throw new Error(`waited ${seconds} s in vain for ${what}`);
  }
}

let shared;

export class Api {
  /** One for all tests of a process, which ends with them. */
  static shared() {
    shared ??= Api.#started();
    return shared;
  }

  static async #started() {
    const api = new Api();
    process.once("exit", () => api.process?.kill("SIGKILL"));
    api.port = await freePort();
    api.url = `http://127.0.0.1:${api.port}`;
    await api.start();
    return api;
  }

  async start() {
    const [command, ...words] = JSON.parse(process.env.TEST_API);
    this.process = spawn(command, [...words, "--port", String(this.port)], { stdio: "ignore" });
    this.process.unref();
    const answers = () => fetch(`${this.url}/readyz`).then((reply) => reply.ok, () => false);
    await until(answers, "om api", 60);
  }

  async kill() {
    const gone = new Promise((done) => this.process.once("exit", done));
    this.process.kill("SIGKILL");
    await gone;
  }
}

/** Have the store answer nothing while `during` runs. */
export async function withoutStore(during) {
  process.kill(Number(process.env.TEST_STORE_PID), "SIGSTOP");
  try {
    return await during();
  } finally {
    process.kill(Number(process.env.TEST_STORE_PID), "SIGCONT");
  }
}

/** A server that answers what it is told to, request by request; the last answer holds on. */
export async function answering(...answers) {
  const asked = [];
  const server = createHttpServer(async (request, reply) => {
    let body = "";
    for await (const piece of request) body += piece;
    asked.push({ url: request.url, headers: request.headers, body });
    const [status, text, headers = {}] = answers[Math.min(asked.length, answers.length) - 1];
    if (status === 0) return reply.destroy();
    reply.writeHead(status, { "content-type": "application/json", ...headers }).end(text);
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  return { url: `http://127.0.0.1:${server.address().port}`, asked, close: () => server.closeAllConnections() ?? server.close() };
}

export const ADDED = JSON.stringify({ ids: ["x"], added: 1, duplicates: [], grown: [], changed: [], replaced: [], ahead: [], ahead_ms: 0 });
export const problem = (status, detail, more = {}) => JSON.stringify({ title: "t", status, detail, ...more });
