/** Builds the page of the dashboard, which the hub serves. */
import { relative } from "node:path";

/** Writes the files to `outDir`. `root`: of the repository. Returns the paths of the modules that they consist of. */
export async function buildPage(root: string, outDir: string): Promise<readonly string[]> {
  // Loaded here: it is large, and few commands need it.
  const { build } = await import("vite");
  const built = await inProduction(() =>
    build({
      root: `${root}/dashboard`,
      logLevel: "error",
      build: { outDir, emptyOutDir: true },
    }),
  );
  const outputs = [built].flat().flatMap((each) => ("output" in each ? each.output : []));
  const modules = outputs.flatMap((each) =>
    each.type === "chunk" ? Object.keys(each.modules) : [],
  );
  return modules.filter((path) => path.startsWith(root)).map((path) => relative(root, path));
}

/** Vite follows NODE_ENV where it is set: with another value the page has React's development build, which is larger and slower. */
async function inProduction<T>(run: () => Promise<T>): Promise<T> {
  const { NODE_ENV: before } = process.env;
  process.env["NODE_ENV"] = "production";
  try {
    return await run();
  } finally {
    if (before === undefined) delete process.env["NODE_ENV"];
    else process.env["NODE_ENV"] = before;
  }
}
