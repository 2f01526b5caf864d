// The tests of the adapters, for Node 22 and newer, in one process: they share one `om api`.
await import("./ai-sdk.test.mjs");
await import("./mastra.test.mjs");
