// Original file: proto/fleet.proto


export interface SupplyWithdrawal {
  'kind'?: (string);
  'name'?: (string);
}

export interface SupplyWithdrawal__Output {
  'kind': (string);
  'name': (string);
}
