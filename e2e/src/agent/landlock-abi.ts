/** The ABI of Landlock of this machine, for tests that need one: 0 without it. */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** `confine`: the path of the launcher. */
export async function landlockAbi(confine: string): Promise<number> {
  return Number((await promisify(execFile)(confine, ["--print-abi"])).stdout);
}
