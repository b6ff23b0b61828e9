/**
 * What of the sandbox a kernel is able to do, and whether that is enough. Pure. The launcher (`local/tools/sandbox/confine`) applies it: rules
 * of Landlock, which kernels have in versions (ABI), and a filter of system calls, which every kernel with Landlock has.
 */
import type { Sandbox } from "../run/index.ts";

/**
 * The least that an administrator accepts. `Full`: rules for files and for TCP ports by their number. `FilesOnly`: rules for files.
 * `Unconfined`: no rules. A program that needs no port can make no socket wherever there are rules.
 */
export type SandboxLevel = "Full" | "FilesOnly" | "Unconfined";

export interface Kernel {
  /** As in `uname -r`. */
  readonly release: string;
  /** The ABI of Landlock; 0 without it. */
  readonly abi: number;
  /** Why the ABI is 0. */
  readonly reason?: string;
}

export interface SandboxDecision {
  readonly sandbox: Sandbox;
  /** What a program in it is able to do although nothing allows it, because the kernel has no rule for that. */
  readonly missing: readonly string[];
}

/** The first ABI with a rule. */
const abiOf = { files: 1, truncation: 3, tcpPorts: 4, signals: 6 } as const;

/** The strongest sandbox that the kernel has, or a refusal where that is less than `least`. */
export function decideSandbox(
  kernel: Kernel,
  { launcher, least }: { readonly launcher: string; readonly least: SandboxLevel },
): SandboxDecision {
  const needed = neededFor(least);
  if (kernel.abi < needed.abi) {
    const why = `the sandbox needs ${needed.what}, and ${describe(kernel)}; use a newer kernel`;
    return { sandbox: { kind: "refused", why }, missing: [] };
  }
  if (kernel.abi < abiOf.files)
    return {
      sandbox: { kind: "unconfined" },
      missing: ["everything that the user of the agent may do"],
    };
  const { abi } = kernel;
  return { sandbox: { kind: "confined", launcher, abi }, missing: missingOf(abi) };
}

function neededFor(least: SandboxLevel): { readonly abi: number; readonly what: string } {
  switch (least) {
    case "Full":
      return { abi: abiOf.tcpPorts, what: "rules for TCP ports (ABI 4 of Landlock, Linux 6.7)" };
    case "FilesOnly":
      return { abi: abiOf.files, what: "rules for files (ABI 1 of Landlock, Linux 5.13)" };
    case "Unconfined":
      return { abi: 0, what: "nothing" };
  }
}

function describe({ release, abi, reason }: Kernel): string {
  const found = abi === 0 ? "no Landlock" : `ABI ${abi}`;
  const why = reason === undefined ? "" : `: ${reason}`;
  return `kernel ${release} has ${found}${why}`;
}

function missingOf(abi: number): readonly string[] {
  return [
    ...(abi < abiOf.truncation ? ["empty files that the user of the agent may write"] : []),
    ...(abi < abiOf.signals ? ["send signals to processes of the user of the agent"] : []),
  ];
}
