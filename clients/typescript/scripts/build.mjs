// Builds dist/esm and dist/cjs, each with its own types: TypeScript decides which of both a file is by the package.json above it.
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, writeFileSync } from "node:fs";

process.chdir(new URL("..", import.meta.url).pathname);
for (const folder of ["dist", "build"]) rmSync(folder, { recursive: true, force: true });
cpSync("src", "build/cjs", { recursive: true });
for (const [folder, type] of [["build/cjs", "commonjs"], ["dist/cjs", "commonjs"], ["dist/esm", "module"]]) {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/package.json`, JSON.stringify({ type }));
}
for (const project of ["tsconfig.json", "tsconfig.cjs.json"]) {
  execFileSync(process.execPath, ["node_modules/typescript/bin/tsc", "-p", project], { stdio: "inherit" });
}
rmSync("build", { recursive: true, force: true });
