export { Ago } from "./time.tsx";
