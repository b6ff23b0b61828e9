export { accessSettingsFromSecret } from "./access-secret.ts";
