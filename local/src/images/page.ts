/** Builds the page of the dashboard, which the hub serves. */
import { relative } from "node:path";

/** Writes the files to `outDir`. `root`: of the repository. Returns the paths of the modules that they consist of. */
export async function buildPage(root: string, outDir: string): Promise<readonly string[]> {
  // Loaded here: it is large, and few commands need it.
  const { build } = await import("vite");
  const built = await build({
    root: `${root}/dashboard`,
    logLevel: "error",
    build: { outDir, emptyOutDir: true },
  });
  const outputs = [built].flat().flatMap((each) => ("output" in each ? each.output : []));
  const modules = outputs.flatMap((each) =>
    each.type === "chunk" ? Object.keys(each.modules) : [],
  );
  return modules.filter((path) => path.startsWith(root)).map((path) => relative(root, path));
}
