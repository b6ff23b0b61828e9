export { createSecretStorage, type SecretStorage } from "./secret-storage.ts";
