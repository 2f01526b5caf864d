import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Redis } from "ioredis";
import { InvalidInputError, ObservationalMemory } from "cortex-om";
import { NotPermittedError, RedisWriter } from "cortex-om/redis";
import { createClient } from "redis";
import { Api, key, until } from "./api.mjs";

const url = process.env.OM_REDIS_URL, run = Date.now().toString(36);
let api, memory, nodeRedis, ioRedis;
before(async () => {
  api = await Api.shared();
  memory = new ObservationalMemory({ url: api.url, key });
  nodeRedis = await createClient({ url }).connect();
  ioRedis = new Redis(url);
});
after(async () => {
  nodeRedis.destroy();
  ioRedis.disconnect();
});

const SAID = [
  { id: "u-1", role: "user", content: "Grüße aus Ōsaka \u{1f600} <observations> \"quoted\" \\ / \u0007" },
  { id: "u-2", role: "assistant", content: [{ type: "text", text: "I look." }, { type: "tool-call", tool_call_id: "c-1", name: "look", args: { z: 1, a: [true, null, 0.5, "\u2028"], "\u{1f600}": 2, "\uffee": 3 } }] },
  { id: "u-3", role: "tool", content: [{ type: "tool-result", tool_call_id: "c-1", name: "look", result: { n: 12.25, big: 9007199254740991 } }] },
  { id: "u-4", role: "user", content: [{ type: "image", url: "https://example.org/a.png", mime: "image/png" }, { type: "text", text: "What is it?" }] },
  { id: "u-5", role: "assistant", content: "" },
];

for (const which of ["redis", "ioredis"]) {
  const client = () => (which === "redis" ? nodeRedis : ioRedis);

  test(`${which}: what the script pushed is known again by the library, by the same bytes`, async () => {
    const place = { resourceId: `${run}-${which}-1`, threadId: "t-1" };
    const writer = new RedisWriter(client(), { resourceId: place.resourceId });
    const pushed = await writer.push(SAID, { threadId: "t-1" });
    const again = await writer.push(SAID, place);
    const known = await memory.addMessages(SAID, place);

    assert.deepEqual([pushed.added, again.added, known.added], [SAID.length, 0, 0]);
    assert.deepEqual(again.duplicates, SAID.map(({ id }) => id));
    assert.deepEqual(known.duplicates, SAID.map(({ id }) => id));
    assert.deepEqual((await memory.messages(place)).map(({ content }) => content), SAID.map(({ content }) => content));
  });

  test(`${which}: a lone surrogate becomes U+FFFD, and the message is known again`, async () => {
    const place = { resourceId: `${run}-${which}-s`, threadId: "t-1" };
    const half = { id: "s-1", role: "tool", content: [{ type: "tool-result", tool_call_id: "c\ud83d", result: { "k\udc00": "caf\udc97" } }] };
    await new RedisWriter(client(), place).push([half]);
    assert.deepEqual((await memory.addMessages([half], place)).duplicates, ["s-1"]);
    assert.deepEqual((await memory.messages(place))[0].content[0].result, { "k\ufffd": "caf\ufffd" });
  });

  test(`${which}: what is pushed to an alias is the thread's`, async () => {
    const place = { resourceId: `${run}-${which}-a`, threadId: "t-1" };
    const writer = new RedisWriter(client(), place);
    await writer.push([SAID[0]]);
    await memory.aliasThread("t-2", place);
    const pushed = await writer.push(SAID.slice(0, 2), { threadId: "t-2" });

    assert.deepEqual([pushed.added, pushed.duplicates], [1, ["u-1"]]);
    assert.deepEqual((await memory.messages(place)).map(({ id }) => id), ["u-1", "u-2"]);
  });

  test(`${which}: a message that grew is taken, and one that says something else is not`, async () => {
    const place = { resourceId: `${run}-${which}-2`, threadId: "t-1" };
    const writer = new RedisWriter(client(), place);
    await writer.push([{ id: "m-1", role: "assistant", content: "Your flight" }, { id: "m-2", role: "user", content: "no" }]);
    const pushed = await writer.push([{ id: "m-1", role: "assistant", content: "Your flight is on Friday." }, { id: "m-2", role: "user", content: "yes" }]);

    assert.deepEqual([pushed.grown, pushed.changed, pushed.added], [["m-1"], ["m-2"], 0]);
    const texts = async () => (await memory.messages(place)).map(({ content }) => content);
    await until(async () => (await texts()).join() === "Your flight is on Friday.,no", "the workers to take the rest");
  });

  test(`${which}: plain commands keep what vendors write`, async () => {
    const place = { resourceId: `${run}-${which}-3`, threadId: "t-1" };
    const writer = new RedisWriter(client(), place);
    const call = { role: "assistant", content: null, tool_calls: [{ id: "c-1", type: "function", function: { name: "look", arguments: "{}" } }] };
    await assert.rejects(writer.push([call]), (error) => error instanceof InvalidInputError && /pushPlain/.test(error.message));
    await writer.pushPlain([{ role: "user", content: "Look." }, call]);

    await until(async () => (await memory.messages(place)).length === 2, "the messages to be adopted");
  });

  test(`${which}: what is enough is observed without anybody asking, in either way`, async () => {
    for (const way of ["push", "pushPlain"]) {
      const place = { resourceId: `${run}-${which}-4-${way}`, threadId: "t-1" };
      const writer = new RedisWriter(client(), place);
      for (let n = 0; n < 6; n++) await writer[way]([{ role: "user", content: `My parcel ${n} is in Oslo. ${"It waits there. ".repeat(70)}` }]);
      await until(async () => (await memory.observations(place)).length > 0, `an observation of what ${way} kept`);
    }
  });
}

test("a server that forgot the script is brought it; 10,000 messages are counted once though pushed twice", async () => {
  const place = { resourceId: `${run}-many`, threadId: "t-1" };
  const writer = new RedisWriter(nodeRedis, place);
  const many = Array.from({ length: 10_000 }, (_, n) => ({ id: `m-${n}`, role: "user", content: "x" }));
  await nodeRedis.sendCommand(["SCRIPT", "FLUSH"]);

  assert.equal((await writer.push(many)).added, 10_000);
  const some = many.slice(-600);
  const again = await Promise.all([writer.push(some), writer.push(some)]);
  assert.deepEqual(again.map(({ added, duplicates }) => [added, duplicates.length]), [[0, 600], [0, 600]]);
});

test("a user that `om acl` made writes to its own memory and to no other one, and without the script by plain commands", async () => {
  const agent = await createClient({ url: process.env.TEST_ACL_URL }).connect();
  const writer = new RedisWriter(agent, { threadId: "t-1" });

  assert.equal((await writer.push([{ id: `${run}-1`, role: "user", content: "hello" }], { resourceId: "acl" })).added, 1);
  await assert.rejects(writer.push([{ role: "user", content: "hello" }], { resourceId: "other" }), NotPermittedError);
  await nodeRedis.sendCommand(["SCRIPT", "FLUSH"]);
  const again = { id: `${run}-2`, role: "user", content: "again", timestamp: Date.now() };
  assert.equal((await writer.push([again, again], { resourceId: "acl" })).added, 1);
  const kept = async () => (await memory.messages({ resourceId: "acl", threadId: "t-1" })).map(({ id }) => id);
  await until(async () => (await kept()).filter((id) => id.startsWith(run)).length === 2, "both messages");
  agent.destroy();
});

test("an id that is none, a number that is written in several ways, and no client are refused before anything is sent", async () => {
  const writer = new RedisWriter(nodeRedis, { resourceId: "harold" });
  const call = (n) => ({ role: "assistant", content: [{ type: "tool-call", tool_call_id: "c", name: "n", args: { n } }] });

  await assert.rejects(writer.push([{ role: "user", content: "x" }], { threadId: ".." }), /threadId ".." is not an id/);
  await assert.rejects(writer.push([call(1e-9)], { threadId: "t" }), /pass it as a text/);
  assert.throws(() => new RedisWriter({}), /pass a connected client/);
});
