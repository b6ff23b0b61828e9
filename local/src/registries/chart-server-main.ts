/** The program of the local HTTP chart repository: `main.ts FOLDER PORT`. */
import { createChartServer } from "./chart-server.ts";

const [, , dir, port] = process.argv;
if (dir === undefined || port === undefined) throw new Error("usage: main.ts FOLDER PORT");

const server = createChartServer(dir);
server.listen(Number(port), "127.0.0.1");
process.once("SIGTERM", () => {
  server.close();
  server.closeAllConnections();
});
