// Pushes on a Redis Cluster, TEST_CLUSTER a node of it; whoever started it looks at what the library knows of that.
import assert from "node:assert/strict";
import { Cluster } from "ioredis";
import { RedisWriter } from "cortex-om/redis";
import { createCluster } from "redis";

const url = new URL(process.env.TEST_CLUSTER);
const nodeRedis = await createCluster({ rootNodes: [{ url: url.href }] }).connect();
const ioRedis = new Cluster([{ host: url.hostname, port: Number(url.port) }]);
for (const [resourceId, client] of [["node-redis", nodeRedis], ["ioredis", ioRedis]]) {
  const writer = new RedisWriter(client, { resourceId, threadId: "t-1", prefix: process.env.TEST_PREFIX });
  const said = [{ id: "m-1", role: "user", content: "hello" }, { id: "m-2", role: "user", content: "again" }];
  assert.equal((await writer.push(said.slice(0, 1))).added, 1);
  assert.deepEqual((await writer.push(said)).duplicates, ["m-1"]);
  assert.equal((await writer.pushPlain([{ role: "user", content: "plainly" }])).length, 1);
}
nodeRedis.destroy();
ioRedis.disconnect();
