// Original file: proto/fleet.proto

import type { Welcome as _flotilla_v1_Welcome, Welcome__Output as _flotilla_v1_Welcome__Output } from '../../flotilla/v1/Welcome.ts';
import type { Deployment as _flotilla_v1_Deployment, Deployment__Output as _flotilla_v1_Deployment__Output } from '../../flotilla/v1/Deployment.ts';
import type { Withdrawal as _flotilla_v1_Withdrawal, Withdrawal__Output as _flotilla_v1_Withdrawal__Output } from '../../flotilla/v1/Withdrawal.ts';
import type { Synced as _flotilla_v1_Synced, Synced__Output as _flotilla_v1_Synced__Output } from '../../flotilla/v1/Synced.ts';
import type { StateReceived as _flotilla_v1_StateReceived, StateReceived__Output as _flotilla_v1_StateReceived__Output } from '../../flotilla/v1/StateReceived.ts';
import type { Facts as _flotilla_v1_Facts, Facts__Output as _flotilla_v1_Facts__Output } from '../../flotilla/v1/Facts.ts';
import type { Supply as _flotilla_v1_Supply, Supply__Output as _flotilla_v1_Supply__Output } from '../../flotilla/v1/Supply.ts';
import type { SupplyWithdrawal as _flotilla_v1_SupplyWithdrawal, SupplyWithdrawal__Output as _flotilla_v1_SupplyWithdrawal__Output } from '../../flotilla/v1/SupplyWithdrawal.ts';
import type { Authorities as _flotilla_v1_Authorities, Authorities__Output as _flotilla_v1_Authorities__Output } from '../../flotilla/v1/Authorities.ts';

export interface HubMessage {
  'welcome'?: (_flotilla_v1_Welcome | null);
  'deployment'?: (_flotilla_v1_Deployment | null);
  'withdrawal'?: (_flotilla_v1_Withdrawal | null);
  'synced'?: (_flotilla_v1_Synced | null);
  'stateReceived'?: (_flotilla_v1_StateReceived | null);
  'facts'?: (_flotilla_v1_Facts | null);
  'supply'?: (_flotilla_v1_Supply | null);
  'supplyWithdrawal'?: (_flotilla_v1_SupplyWithdrawal | null);
  'authorities'?: (_flotilla_v1_Authorities | null);
  'body'?: "welcome"|"deployment"|"withdrawal"|"synced"|"stateReceived"|"facts"|"supply"|"supplyWithdrawal"|"authorities";
}

export interface HubMessage__Output {
  'welcome'?: (_flotilla_v1_Welcome__Output | null);
  'deployment'?: (_flotilla_v1_Deployment__Output | null);
  'withdrawal'?: (_flotilla_v1_Withdrawal__Output | null);
  'synced'?: (_flotilla_v1_Synced__Output | null);
  'stateReceived'?: (_flotilla_v1_StateReceived__Output | null);
  'facts'?: (_flotilla_v1_Facts__Output | null);
  'supply'?: (_flotilla_v1_Supply__Output | null);
  'supplyWithdrawal'?: (_flotilla_v1_SupplyWithdrawal__Output | null);
  'authorities'?: (_flotilla_v1_Authorities__Output | null);
  'body'?: "welcome"|"deployment"|"withdrawal"|"synced"|"stateReceived"|"facts"|"supply"|"supplyWithdrawal"|"authorities";
}
