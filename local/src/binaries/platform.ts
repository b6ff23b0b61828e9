/** The platform that binaries are for. */
import { AppError } from "@flotilla/shared/errors/app-error.ts";
import { localErrors } from "../errors.ts";
import type { Platform } from "./tools.ts";

/** This machine's platform, in Go's words. */
export function currentPlatform(): Platform {
  const os =
    process.platform === "linux" || process.platform === "darwin" ? process.platform : undefined;
  const arch = process.arch === "x64" ? "amd64" : process.arch === "arm64" ? "arm64" : undefined;
  if (os === undefined || arch === undefined) {
    throw new AppError(
      localErrors.BINARY_UNAVAILABLE,
      `the local fleet runs on Linux and macOS with amd64 or arm64, not on ${process.platform} with ${process.arch}`,
    );
  }
  return { os, arch };
}
