// Original file: proto/fleet.proto

import type { Welcome as _flotilla_v1_Welcome, Welcome__Output as _flotilla_v1_Welcome__Output } from '../../flotilla/v1/Welcome.ts';
import type { Deployment as _flotilla_v1_Deployment, Deployment__Output as _flotilla_v1_Deployment__Output } from '../../flotilla/v1/Deployment.ts';
import type { Withdrawal as _flotilla_v1_Withdrawal, Withdrawal__Output as _flotilla_v1_Withdrawal__Output } from '../../flotilla/v1/Withdrawal.ts';
import type { Synced as _flotilla_v1_Synced, Synced__Output as _flotilla_v1_Synced__Output } from '../../flotilla/v1/Synced.ts';
import type { StateReceived as _flotilla_v1_StateReceived, StateReceived__Output as _flotilla_v1_StateReceived__Output } from '../../flotilla/v1/StateReceived.ts';

export interface HubMessage {
  'welcome'?: (_flotilla_v1_Welcome | null);
  'deployment'?: (_flotilla_v1_Deployment | null);
  'withdrawal'?: (_flotilla_v1_Withdrawal | null);
  'synced'?: (_flotilla_v1_Synced | null);
  'stateReceived'?: (_flotilla_v1_StateReceived | null);
  'body'?: "welcome"|"deployment"|"withdrawal"|"synced"|"stateReceived";
}

export interface HubMessage__Output {
  'welcome'?: (_flotilla_v1_Welcome__Output | null);
  'deployment'?: (_flotilla_v1_Deployment__Output | null);
  'withdrawal'?: (_flotilla_v1_Withdrawal__Output | null);
  'synced'?: (_flotilla_v1_Synced__Output | null);
  'stateReceived'?: (_flotilla_v1_StateReceived__Output | null);
  'body'?: "welcome"|"deployment"|"withdrawal"|"synced"|"stateReceived";
}
