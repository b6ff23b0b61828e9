export { accessAt, archive, digest, pinAt, serve, setUp } from "./cache-set-up.ts";
