/** Downloads an archive to a file in the directory of a build. */
import { open } from "node:fs/promises";
import type { DownloadPin, FetchArchive, FetchRequest } from "@flotilla/shared/source";

export async function downloadFile(
  download: FetchArchive<DownloadPin>,
  pin: DownloadPin,
  path: string,
  request: FetchRequest,
): Promise<void> {
  const file = await open(path, "w", 0o600);
  try {
    await download(
      pin,
      async (chunk) => {
        for (let at = 0; at < chunk.length; ) at += (await file.write(chunk, at)).bytesWritten;
      },
      request,
    );
  } finally {
    await file.close();
  }
}
