import assert from "node:assert/strict";
import { createServer } from "node:http";
import { before, test } from "node:test";
import {
  EventsExpiredError, InvalidInputError, NotFoundError, NotPermittedError, ObservationalMemory, RateLimitedError, RequestTimeoutError,
  StoreError, UnexpectedReplyError, UnreachableError,
} from "cortex-om";
import { ADDED, Api, answering, freePort, key, problem, sleep, until, withoutStore } from "./api.mjs";

let api, memory, numbers = 0;
before(async () => {
  api = await Api.shared();
  memory = new ObservationalMemory({ url: api.url, key, resourceId: "harold", timeoutMs: 90_000, retries: 200 });
});
const run = Date.now().toString(36);
const fresh = () => ({ threadId: "t-1", resourceId: `${run}-${++numbers}` });
const user = (content) => ({ role: "user", content });
const made = (options) => new ObservationalMemory({ url: api.url, key, resourceId: "harold", ...options });

test("an agent keeps messages, reads its context in every form, and finds what it said", async () => {
  const place = fresh();
  const receipt = await memory.addMessage({ ...user("My flight to Oslo is on Friday."), ...place });
  await memory.addMessages([{ id: "own-1", role: "assistant", content: "Noted." }], place);

  assert.equal(receipt.added, 1);
  const { context } = await memory.getContext(place);
  assert.deepEqual(context.map(({ content }) => content), ["My flight to Oslo is on Friday.", "Noted."]);
  for (const format of ["text", "openai", "openai_responses", "anthropic", "gemini", "blocks"]) {
    const found = await memory.getContext({ ...place, format });
    assert.equal(found.format, format);
    assert.match(JSON.stringify(found.context), /Oslo/);
  }
  assert.equal((await memory.recall("oslo flight", place)).hits[0].id, receipt.ids[0]);
  assert.match(await memory.answerRecall({ query: "oslo" }, place), /Friday/);
  await memory.setThread({ memory: "off" }, { ...place, threadId: "apart" });
  assert.match(await memory.answerRecall({ query: "oslo" }, { ...place, threadId: "apart" }), /Nothing was found/);
  assert.equal((await memory.browse("own-1", place)).before[0].id, receipt.ids[0]);
  assert.ok((await memory.threads(place)).some(({ id }) => id === place.threadId));
  assert.equal(memory.recallTool("anthropic").input_schema.required[0], "query");
});

test("each request says under which span it is asked, where there is one", async () => {
  const name = "00-00000000000000000000000000000007-0000000000000009-01", names = [name, undefined], sent = [];
  const fetch = (url, init) => (sent.push(init.headers.traceparent), globalThis.fetch(url, init));
  const within = made({ fetch, traceparent: () => names.shift() });
  await within.threads();
  await within.threads();

  assert.deepEqual(sent, [name, undefined]);
});

test("an Actor keeps fields, by itself and by a model's calls, and a change is taken back", async () => {
  const place = { resourceId: "keeps-fields" };
  const tool = await memory.workingMemoryTool("anthropic", place);
  await memory.updateWorkingMemory({ Name: "Ada", City: "Graz" }, place);

  assert.equal(tool.name, "update_working_memory");
  assert.match(await memory.answerWorkingMemory({ input: { fields: { City: "Rome" } } }, place), /City: Rome/);
  assert.deepEqual((await memory.workingMemory(place)).fields, { Name: "Ada", City: "Rome" });
  assert.equal((await memory.updateWorkingMemory({ City: "Oslo" }, { ...place, version: 1 })).outcome, "superseded");
  assert.deepEqual((await memory.updateWorkingMemory({ Name: "Bo" }, { ...place, replace: true })).working_memory.fields, { Name: "Bo" });
  assert.deepEqual((await memory.undoWorkingMemory(place)).working_memory.fields, { Name: "Ada", City: "Rome" });
  assert.deepEqual(await memory.extracted(place), {});
  assert.deepEqual(await memory.hooks(place), []);
});

test("a context says for which of the agent's models it is", async () => {
  const server = await answering([200, JSON.stringify({ format: "openai", context: [], tokens: 0, omitted: 0 })]);
  await new ObservationalMemory({ url: server.url, resourceId: "harold" }).getContext({ threadId: "t-1", model: "vendor/model-5" });
  server.close();

  assert.equal(new URL(server.asked[0].url, server.url).searchParams.get("model"), "vendor/model-5");
});

test("what is stored is redacted, or told how much would be", async () => {
  const done = { outcome: "rest", kinds: { email: 1 }, places: { messages: 1 } };
  const server = await answering([200, JSON.stringify(done)]);
  const own = new ObservationalMemory({ url: server.url, resourceId: "harold" });
  const told = [await own.redact({ dryRun: true }), await own.redact()];
  server.close();

  assert.deepEqual(told, [done, done]);
  assert.deepEqual(server.asked.map(({ url, body }) => [url, body]), [true, false].map((dry) => ["/v1/resources/harold/redact", `{"dry_run":${dry}}`]));
  const place = fresh();
  await memory.addMessage(user("x"), place);
  await assert.rejects(memory.redact(place), (error) => error instanceof InvalidInputError && /redaction\.before/.test(error.message));
});

test("an Actor tells a shared memory something by a tool, once", async () => {
  const place = { resourceId: "keeps-fields" };
  const tool = await memory.shareTool("anthropic", place);
  const told = [];
  for (let n = 0; n < 2; n++) told.push(await memory.answerShare({ input: { text: "We ship in May.", with: "its-team" } }, place));

  assert.deepEqual(tool.input_schema.properties.with.enum, ["its-team"]);
  assert.deepEqual(told, ["It stands in the memory of its-team now.", "It stands in the memory of its-team now."]);
  assert.equal((await memory.observations({ resourceId: "its-team" })).length, 1);
  assert.match(await memory.answerShare({ text: "We ship in May.", with: "org" }, place), /permitted is its-team/);
});

test("a memory mode is set with messages, with a history, and for a thread", async () => {
  const place = fresh();
  await memory.addMessage(user("One."), { ...place, memory: "off" });
  await memory.sync([user("Two.")], { ...place, threadId: "t-2", memory: "read_only" });
  const third = await memory.setThread({ memory: "write_only" }, { ...place, threadId: "t-3" });

  assert.deepEqual((await memory.threads(place)).map((each) => each.memory), ["off", "read_only"]);
  assert.equal(third.memory, "write_only");
});

test("a thread is named, put away, copied, and known by another name", async () => {
  const place = fresh(), other = { ...place, threadId: "t-2" };
  await memory.addMessage({ ...user("The roof leaks."), ...place });
  const named = await memory.setThread({ title: "The roof", metadata: { n: 1 } }, place);
  await memory.setThread({ archived: true }, place);

  assert.deepEqual([named.title, named.metadata], ["The roof", { n: 1 }]);
  assert.deepEqual([await memory.threads(place), (await memory.threads({ ...place, archived: "yes" })).length], [[], 1]);
  assert.equal((await memory.copyThread("t-3", place)).messages, 1);
  assert.equal((await memory.aliasThread("t-2", place)).thread, "t-1");
  await memory.addMessage({ ...user("Badly."), ...other });
  assert.deepEqual((await memory.messages(other)).map(({ content }) => content), ["The roof leaks.", "Badly."]);
  assert.deepEqual(await memory.threadAliases(place), [{ alias: "t-2", thread_id: "t-1" }]);
  assert.deepEqual((await memory.threads({ ...place, order: "activity" })).map(({ id }) => id), ["t-1", "t-3"]);
  assert.equal((await memory.unaliasThread("t-2", place)).outcome, "cleared");
});

test("a history is synced without ids, and what stays the same is known", async () => {
  const place = fresh();
  const history = [{ role: "system", content: "Be brief." }, user("hello"), { role: "assistant", content: "hi" }];
  const first = await memory.sync(history, place);
  const second = await memory.sync([...history, user("hello")], place);

  assert.deepEqual([first.added, second.added, second.known], [2, 1, 2]);
  assert.equal(second.ids[0], "");
  assert.deepEqual((await memory.messages(place)).map(({ content }) => content), ["hello", "hi", "hello"]);
  const branch = [...history.slice(0, 2), { role: "assistant", content: "good day" }];
  const copied = await memory.sync(branch, { ...place, diverged: "copy" });
  assert.notEqual(copied.thread_id, second.thread_id);
  assert.equal((await memory.sync(branch, place)).retracted.length, 2);
  assert.deepEqual((await memory.messages(place)).map(({ content }) => content), ["hello", "good day"]);
});

test("messages of OpenAI's and Anthropic's SDKs are taken as they are", async () => {
  const place = fresh();
  const call = { id: "c-1", type: "function", function: { name: "look", arguments: '{"day":"Friday"}' } };
  const openai = { role: "assistant", content: null, refusal: null, annotations: [], audio: undefined, tool_calls: [call] };
  const anthropic = {
    id: "msg_01", type: "message", role: "assistant", model: "claude", stop_reason: "tool_use", usage: { input_tokens: 1 },
    content: [{ type: "text", text: "I look again.", citations: null }, { type: "tool_use", id: "tu-1", name: "look", input: {} }],
  };
  await memory.addMessages([user("When?"), openai, { role: "tool", tool_call_id: "c-1", content: "9:15" }, anthropic], place);
  await memory.addMessage({ role: "user", content: [{ type: "tool_result", tool_use_id: "tu-1", content: "9:20" }] }, place);

  const { context } = await memory.getContext(place);
  assert.deepEqual(context.map(({ role }) => role), ["user", "assistant", "tool", "assistant", "tool"]);
  assert.equal(context[1].tool_calls[0].function.name, "look");
});

test("10,000 messages at once are sent in as many requests as they need, and one of a megabyte is refused by its size", async () => {
  const place = fresh();
  const many = Array.from({ length: 10_000 }, (_, n) => ({ id: `m-${n}`, ...user(`${n}`) }));
  const receipt = await memory.addMessages(many, place);
  assert.equal(receipt.added, 10_000);
  assert.deepEqual(receipt.ids, many.map(({ id }) => id));

  await assert.rejects(memory.addMessage(user("x".repeat(1_100_000)), place), (error) => error instanceof InvalidInputError && /split it/.test(error.message));
  const large = await memory.addMessages(Array.from({ length: 8 }, (_, n) => user(`${n} ${"wort ".repeat(180_000)}`)), fresh());
  assert.equal(large.added, 8);
});

test("what cannot be is refused before it is sent, and says what can", async () => {
  const refused = (promise, kind, text) => assert.rejects(promise, (error) => error instanceof kind && text.test(error.message));
  await refused(memory.addMessage(user("x"), { threadId: ".." }), InvalidInputError, /threadId ".." is not an id: use 1 to 200/);
  await refused(memory.addMessage(user("x"), { threadId: ".." }), InvalidInputError, /not an id/);
  await refused(memory.addMessage(user("x")), InvalidInputError, /messages\[0\]: threadId is missing/);
  await refused(memory.addMessages(["x"], { threadId: "t" }), InvalidInputError, /messages\[0\] is string, no message/);
  await refused(memory.addMessages([user(1n)], { threadId: "t" }), InvalidInputError, /is no JSON/);
  await refused(memory.addMessages([user("x"), { role: "robot", content: "x" }], { threadId: "t" }), InvalidInputError, /messages\[1\].role/);
  await refused(memory.browse("nobody-said-it"), NotFoundError, /check the id/);
  await refused(made({ key: "om_000000000000_wrong" }).getContext({ threadId: "t" }), NotPermittedError, /key/);
  await refused(made({ resourceId: undefined }).getContext({ threadId: "t" }), InvalidInputError, /resourceId is missing/);
  for (const url of ["localhost:8000", "nonsense", "http://user:pass@127.0.0.1"]) assert.throws(() => made({ url }), InvalidInputError);
  assert.throws(() => made({ key: "" }), /om keys create/);
});

test("a key never stands in an error", async () => {
  const secret = "om_abcdefabcdef_verysecret";
  for (const url of [api.url, "http://127.0.0.1:1"]) {
    const error = await made({ url, key: secret, retries: 0 }).getContext({ threadId: "t" }).catch((found) => found);
    assert.doesNotMatch(`${error.stack} ${JSON.stringify(error)} ${error.cause?.stack}`, /verysecret/);
  }
});

test("a lost reply is repeated with the same id, also where the message had none", async () => {
  const server = await answering([0], [503, problem(503, "the store is away", { stored: null }), { "retry-after": "1" }], [200, ADDED]);
  await made({ url: server.url }).addMessage(user("once"), { threadId: "t" });
  server.close();

  const sent = server.asked.map(({ body }) => JSON.parse(body).messages[0].id);
  assert.equal(sent.length, 3);
  assert.equal(new Set(sent).size, 1);
  assert.match(sent[0], /^[0-9a-f-]{36}$/);
});

test("what is too fast is repeated when there is room; where that is too late, the error says when", async () => {
  const limited = [429, problem(429, "harold takes 5 messages a second", { stored: false }), { "retry-after": "1" }];
  const server = await answering(limited, [200, ADDED]);
  const begun = Date.now();
  await made({ url: server.url }).addMessage(user("x"), { threadId: "t" });
  assert.ok(Date.now() - begun >= 1_000);
  server.close();

  const late = await answering([limited[0], limited[1], { "retry-after": "60" }]);
  await assert.rejects(made({ url: late.url }).addMessage(user("x"), { threadId: "t" }), (error) => error instanceof RateLimitedError && error.retryAfter === 60 && error.stored === false);
  assert.equal(late.asked.length, 1);
  late.close();
});

test("a proxy's page is named for what it is", async () => {
  for (const [status, text] of [[200, "<html>Log in</html>"], [502, "<html>Bad gateway</html>"], [404, "<html>nginx</html>"]]) {
    const server = await answering([status, text, { "content-type": "text/html" }]);
    const error = await made({ url: server.url, retries: 1 }).getContext({ threadId: "t" }).catch((found) => found);
    server.close();
    assert.ok(error instanceof UnexpectedReplyError);
    assert.match(error.message, new RegExp(`answered ${status} with text/html instead of JSON .*proxy`));
    assert.equal(server.asked.length, status === 502 ? 2 : 1);
  }
});

test("a call ends at its time-out, and at once when its signal is aborted", async () => {
  const silent = createServer(() => {}).listen(0, "127.0.0.1");
  await new Promise((done) => silent.once("listening", done));
  const url = `http://127.0.0.1:${silent.address().port}`;
  await assert.rejects(made({ url, timeoutMs: 150 }).getContext({ threadId: "t" }), RequestTimeoutError);

  const controller = new AbortController(), begun = Date.now();
  setTimeout(() => controller.abort(new Error("enough")), 100);
  await assert.rejects(made({ url }).getContext({ threadId: "t", signal: controller.signal }), /^Error: enough$/);
  await assert.rejects(made({ url: "http://127.0.0.1:1" }).addMessage(user("x"), { threadId: "t", signal: AbortSignal.timeout(300) }), { name: "TimeoutError" });
  assert.ok(Date.now() - begun < 2_000);
  silent.closeAllConnections();
  silent.close();
});

test("om api is killed while two clients write and a third one watches: nothing is lost, nothing is twice", async () => {
  const place = fresh(), seen = [], controller = new AbortController();
  const others = [memory, made({ timeoutMs: 90_000, retries: 200 })];
  const write = async (client, who) => {
    for (let n = 0; n < 60; n++) await client.addMessage(user(`${who} ${n} ${"and so on ".repeat(10)}`), place);
  };
  const watching = (async () => {
    for await (const event of memory.events({ resourceId: place.resourceId, kinds: ["buffered"], signal: controller.signal })) seen.push(event);
  })();
  const ended = assert.rejects(watching, { name: "AbortError" });
  await sleep(300);
  await memory.addMessage(user("the first"), place);
  await memory.observe({ ...place, wait: 20 });
  await until(() => seen.length > 0, "the first event");
  const writing = Promise.all(others.map(write));
  await sleep(100);
  const [before] = [seen.length, await api.kill()];
  await api.start();
  await writing;
  await memory.observe({ ...place, wait: 20 });

  await until(() => seen.length > before, "events after the restart");
  controller.abort();
  await ended;
  assert.deepEqual([...seen].sort((a, b) => (a.id < b.id ? -1 : 1)), seen);
  assert.ok(seen.every(({ resource }) => resource === place.resourceId));
  const kept = await everything(place);
  assert.equal(kept.length, 121);
  assert.equal(new Set(kept).size, 121);
});

/** What is kept of a thread, raw or behind observations; read again where a worker has moved some of it meanwhile. */
async function everything(place) {
  const observed = async () => (await memory.observations(place)).map(({ id }) => id);
  for (;;) {
    const ids = await observed();
    const behind = await Promise.all(ids.map((id) => memory.sources(id, place)));
    const raw = await memory.messages(place);
    if (ids.join() === (await observed()).join()) return [...behind.flat(), ...raw].map(({ content }) => content);
  }
}

test("while the store is away a writer is told, and one that fails open goes on and says so once", async () => {
  const place = fresh(), warnings = [];
  const open = made({ failOpen: true, timeoutMs: 1_500, retries: 1, onWarning: (text) => warnings.push(text) });
  await open.addMessage(user("before"), place);
  await open.getContext(place);
  await withoutStore(async () => {
    await assert.rejects(made({ timeoutMs: 1_500, retries: 0 }).addMessage(user("refused"), place), StoreError);
    const receipt = await open.addMessage(user("while it was away"), place);
    assert.deepEqual([receipt.added, receipt.ids.length], [0, 1]);
    const found = await open.getContext(place);
    assert.equal(found.unavailable, true);
    assert.deepEqual(found.context.map(({ content }) => content), ["before", "while it was away"]);
    assert.equal((await open.sync([user("before")], place)).unavailable, true);
  });

  assert.equal(warnings.length, 1);
  assert.match(warnings[0], /away.*goes on without it/);
  await until(async () => (await open.flush()) === 0, "what waited to be sent");
  await until(async () => !(await open.getContext(place)).unavailable, "the memory");
  const texts = (await memory.messages(place)).map(({ content }) => content);
  assert.deepEqual(texts.filter((text) => text !== "refused"), ["before", "while it was away"]);
});

test("one that fails open works with no server from the start, keeps what there is room for, and counts the rest", async () => {
  const warnings = [], place = fresh();
  const port = await freePort();
  const open = made({ url: `http://127.0.0.1:${port}`, failOpen: true, retries: 0, onWarning: (text) => warnings.push(text) });
  for (const format of ["text", "openai", "anthropic", "gemini", "blocks", "openai_responses"]) {
    assert.equal((await open.getContext({ ...place, format })).unavailable, true);
  }
  await open.addMessages(Array.from({ length: 1_200 }, (_, n) => user(`w-${n}`)), place);
  assert.match((await open.getContext({ ...place, format: "text" })).context, /user: w-1199$/);
  assert.equal(await open.flush(), 1_000);
  await assert.rejects(open.addMessage(user("x"), { threadId: ".." }), InvalidInputError);
  assert.deepEqual(warnings.map((text) => /away|no room/.exec(text)?.[0]), ["away", "no room"]);
});

test("events that are kept are read again from the beginning", async () => {
  const place = fresh(), kinds = [];
  await memory.addMessage(user("a parcel for Oslo"), place);
  await memory.observe({ ...place, wait: 20 });
  for await (const { kind } of memory.events({ resourceId: place.resourceId, after: "0" })) if (kinds.push(kind) && kind === "activated") break;

  assert.ok(kinds.includes("sealed") && kinds.includes("buffered"));
});

test("a place in the events that is no longer kept is an error that says where to go on", async () => {
  const gap = { id: "1763600000000-0", kind: "gap", at: 1_763_600_000_000 };
  const server = await answering([200, `retry: 2000\n\nid: ${gap.id}\nevent: gap\ndata: ${JSON.stringify(gap)}\n\n`, { "content-type": "text/event-stream" }]);
  const events = made({ url: server.url }).events({ after: "1-0" });
  await assert.rejects(events.next(), (error) => error instanceof EventsExpiredError && error.after === gap.id && /read the state anew/.test(error.message));
  server.close();
  await assert.rejects(made({ key: "om_000000000000_wrong" }).events().next(), NotPermittedError);
});

test("while the memory is known to be away, a call that goes on without it is tried once", async () => {
  let asked = 0;
  const nobody = async () => {
    asked += 1;
    throw new TypeError("nobody listens");
  };
  const open = made({ failOpen: true, retries: 2, fetch: nobody, onWarning: () => {} });
  await open.addMessage({ ...user("hello"), ...fresh() });
  const first = asked;
  await open.getContext(fresh());

  assert.equal(first, 3);
  assert.equal(asked, 4);
});
