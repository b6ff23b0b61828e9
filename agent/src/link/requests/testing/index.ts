export {
  config,
  hookOf,
  jobs,
  log,
  pods,
  setUp,
  setUpAttempt,
  testHook,
  workload,
} from "./answers-set-up.ts";
