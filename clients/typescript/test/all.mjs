// All tests that a version of Node can run, in one process: they share one `om api`.
await import("./prompts.test.mjs");
await import("./client.test.mjs");
await import("./refused.test.mjs");
await import("./redis.test.mjs");
