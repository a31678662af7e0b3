// Written by scripts/generate-answers.mjs from the OpenAPI documents; do not edit.
import type { Party } from '../platform/party.ts'
import type { ContractId } from '../platform/values.ts'

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description Exactly one of transfer, mint, tap and abort_transfer_instruction is not null. */
        readonly Activity: {
            /**
             * @description Which of the four members is not null.
             * @constant
             */
            readonly activityType: "transfer";
            /** @description `<offset, 16 digits>:<index, 4 digits>`: equal on every node and increasing as text. */
            readonly eventId: string;
            /** @description The record time. */
            readonly date: string;
            /** @description The synchronizer. */
            readonly domainId: string;
            /** @description The ledger offset, decimal. */
            readonly offset: string;
            /** @description The newest round that was open. */
            readonly round: number;
            readonly transfer: components["schemas"]["ActivityTransfer"];
            /** @description Null: it is no mint. */
            readonly mint: null;
            /** @description Null: it is no tap. */
            readonly tap: null;
            /** @description Null: it is no end of an offer. */
            readonly abortTransferInstruction: null;
        } | {
            /**
             * @description Which of the four members is not null.
             * @constant
             */
            readonly activityType: "mint";
            /** @description `<offset, 16 digits>:<index, 4 digits>`: equal on every node and increasing as text. */
            readonly eventId: string;
            /** @description The record time. */
            readonly date: string;
            /** @description The synchronizer. */
            readonly domainId: string;
            /** @description The ledger offset, decimal. */
            readonly offset: string;
            /** @description The newest round that was open. */
            readonly round: number;
            /** @description Null: it is no transfer. */
            readonly transfer: null;
            readonly mint: components["schemas"]["ActivityNewCoin"];
            /** @description Null: it is no tap. */
            readonly tap: null;
            /** @description Null: it is no end of an offer. */
            readonly abortTransferInstruction: null;
        } | {
            /**
             * @description Which of the four members is not null.
             * @constant
             */
            readonly activityType: "devnet_tap";
            /** @description `<offset, 16 digits>:<index, 4 digits>`: equal on every node and increasing as text. */
            readonly eventId: string;
            /** @description The record time. */
            readonly date: string;
            /** @description The synchronizer. */
            readonly domainId: string;
            /** @description The ledger offset, decimal. */
            readonly offset: string;
            /** @description The newest round that was open. */
            readonly round: number;
            /** @description Null: it is no transfer. */
            readonly transfer: null;
            /** @description Null: it is no mint. */
            readonly mint: null;
            readonly tap: components["schemas"]["ActivityNewCoin"];
            /** @description Null: it is no end of an offer. */
            readonly abortTransferInstruction: null;
        } | {
            /**
             * @description Which of the four members is not null.
             * @constant
             */
            readonly activityType: "abort_transfer_instruction";
            /** @description `<offset, 16 digits>:<index, 4 digits>`: equal on every node and increasing as text. */
            readonly eventId: string;
            /** @description The record time. */
            readonly date: string;
            /** @description The synchronizer. */
            readonly domainId: string;
            /** @description The ledger offset, decimal. */
            readonly offset: string;
            /** @description Null: no coin moved. */
            readonly round: null;
            /** @description Null: it is no transfer. */
            readonly transfer: null;
            /** @description Null: it is no mint. */
            readonly mint: null;
            /** @description Null: it is no tap. */
            readonly tap: null;
            readonly abortTransferInstruction: components["schemas"]["ActivityAbort"];
        };
        /** @description An offer that ended without a transfer. */
        readonly ActivityAbort: {
            /**
             * Format: contract-id
             * @description The offer.
             */
            readonly transferInstructionCid: ContractId;
            /**
             * @description Whether its sender or its receiver ended it.
             * @enum {unknown}
             */
            readonly abortKind: "withdraw" | "reject";
        };
        /** @description Coin that was created. */
        readonly ActivityNewCoin: {
            /** @description The party that received it. */
            readonly coinOwner: string;
            /** @description How much, an amount of coin. */
            readonly coinAmount: string;
        };
        /** @description There are no fees: those members are zeros. receivers and balance_changes have one row for each party. Locked coin counts as coin of its party; coin that is burned in the same transaction counts for no party. */
        readonly ActivityTransfer: {
            /** @description The sender. */
            readonly sender: {
                /**
                 * Format: party
                 * @description The party that paid.
                 */
                readonly party: Party | null;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly senderChangeFee: string;
                /** @description The change that it received, an amount of coin. */
                readonly senderChangeAmount: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly senderFee: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly holdingFees: string;
                /** @description What went in, an amount of coin. */
                readonly inputCoinAmount: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly inputAppRewardAmount: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly inputValidatorRewardAmount: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly inputSvRewardAmount: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly inputValidatorFaucetAmount: string;
            };
            /** @description One row for each party. */
            readonly receivers: readonly {
                /**
                 * Format: party
                 * @description The party that received.
                 */
                readonly party: Party | null;
                /** @description What it received, an amount of coin. */
                readonly amount: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly receiverFee: string;
            }[];
            /** @description One row for each party whose coin changed. */
            readonly balanceChanges: readonly {
                /**
                 * Format: party
                 * @description The party.
                 */
                readonly party: Party | null;
                /** @description The difference, an amount of coin; negative: less. */
                readonly changeToInitialAmountAsOfRoundZero: string;
                /** @description Always zero, an amount of coin: there are no fees and no such rewards. */
                readonly changeToHoldingFeesRate: string;
            }[];
            /** @description The text of the sender. */
            readonly description: string | null;
            /** @description The receiver of an offer. */
            readonly transferInstructionReceiver: string | null;
            /** @description What was offered, an amount of coin. */
            readonly transferInstructionAmount: string | null;
            /** @description The offer that was made or accepted. */
            readonly transferInstructionCid: string | null;
            /** @description Whether an offer was made or accepted; null for a transfer at once. */
            readonly transferKind: ("create_transfer_instruction" | "transfer_instruction_accept") | null;
        };
        /** @description What the user holds. */
        readonly BalanceAnswer: {
            /** @description The newest open round. */
            readonly round: number;
            /** @description What can be spent, an amount of coin. */
            readonly effectiveUnlockedQty: string;
            /** @description What is locked in payments and offers, an amount of coin. */
            readonly effectiveLockedQty: string;
            /** @description Always zero, an amount of coin. */
            readonly totalHoldingFees: string;
        };
        /** @description Coin that was created or unlocked. */
        readonly BalanceChangeItem: {
            /**
             * @description The kind of item.
             * @constant
             */
            readonly transactionType: "balance_change";
            /** @description The action. */
            readonly transactionSubtype: {
                /** @description The template. */
                readonly templateId: string;
                /** @description The choice that was exercised. */
                readonly choice: string;
                /** @description Always null. */
                readonly coinOperation: string | null;
                /** @description The interface of the choice, if any. */
                readonly interfaceId: string | null;
            };
            /** @description The same as in the activity history. */
            readonly eventId: string;
            /** @description The record time. */
            readonly date: string;
            /** @description The receivers. */
            readonly receivers: readonly components["schemas"]["PartyAndAmount"][];
            /** @description The offer that was ended. */
            readonly transferInstructionCid: (ContractId) | null;
        };
        /** @description One coin. */
        readonly CoinPosition: {
            readonly contract: components["schemas"]["ContractWithState"];
            /** @description The newest open round. */
            readonly round: number;
            /** @description Always zero, an amount of coin. */
            readonly accruedHoldingFee: string;
            /** @description How much it is, an amount of coin. */
            readonly effectiveAmount: string;
        };
        /** @description The contracts behind the balance. */
        readonly CoinsAnswer: {
            /** @description Those that can be spent. */
            readonly coins: readonly components["schemas"]["CoinPosition"][];
            /** @description Those that are locked. */
            readonly lockedCoins: readonly components["schemas"]["CoinPosition"][];
            /** @description Asks for the next page in this order; null on the last. */
            readonly nextPageToken: string | null;
        };
        /** @description An active contract. */
        readonly Contract: {
            /** @description Its template: `<package id>:<Module>:<Entity>`. */
            readonly templateId: string;
            /**
             * Format: contract-id
             * @description The id of the contract: `00` and 64 hex digits.
             */
            readonly contractId: ContractId;
            /** @description Its fields, as Daml-LF JSON. */
            readonly payload: {
                readonly [key: string]: unknown;
            };
            /** @description base64; with it the contract can be disclosed to a command. */
            readonly createdEventBlob: string;
            /** @description When it was created. */
            readonly createdAt: string;
        };
        /** @description A contract, and where it is. */
        readonly ContractWithState: {
            readonly contract: components["schemas"]["Contract"];
            /** @description The synchronizer. */
            readonly domainId: string;
        };
        /** @description News that moved no coin. */
        readonly NotificationItem: {
            /**
             * @description The kind of item.
             * @constant
             */
            readonly transactionType: "notification";
            /** @description The action. */
            readonly transactionSubtype: {
                /** @description The template. */
                readonly templateId: string;
                /** @description The choice that was exercised. */
                readonly choice: string;
                /** @description Always null. */
                readonly coinOperation: string | null;
                /** @description The interface of the choice, if any. */
                readonly interfaceId: string | null;
            };
            /** @description The same as in the activity history. */
            readonly eventId: string;
            /** @description The record time. */
            readonly date: string;
            /** @description The subject, such as an expired subscription. */
            readonly details: string;
        };
        /** @description A change of the coin of a party. */
        readonly PartyAndAmount: {
            /**
             * Format: party
             * @description The party.
             */
            readonly party: Party | null;
            /** @description An amount of coin, a decimal; negative for what was spent. */
            readonly amount: string;
        };
        /** @description The subscriptions. */
        readonly SubscriptionsAnswer: {
            /** @description One for each name. */
            readonly subscriptions: readonly {
                /** @description The subscription; a renewal does not change it. */
                readonly subscription: components["schemas"]["Contract"];
                /** @description Its state. */
                readonly state: {
                    /** @description It waits for its next payment. */
                    readonly idle: components["schemas"]["Contract"];
                } | {
                    /** @description A payment is in progress. */
                    readonly payment: components["schemas"]["Contract"];
                };
                /** @description Whether the wallet pays renewals that are due. */
                readonly autoRenew: boolean;
            }[];
            /** @description Asks for the next page in this order; null on the last. */
            readonly nextPageToken: string | null;
        };
        /** @description Newest first. */
        readonly TransactionsAnswer: {
            /** @description By `transaction_type`. */
            readonly items: readonly (components["schemas"]["TransferItem"] | components["schemas"]["BalanceChangeItem"] | components["schemas"]["NotificationItem"])[];
        };
        /** @description The state of an offer. */
        readonly TransferAnswer: {
            /** @description The offer, or the coin; neither if the sender has it back. */
            readonly output: {
                /**
                 * Format: contract-id
                 * @description The open offer.
                 */
                readonly transferInstructionCid: ContractId;
            } | {
                /** @description The coin of the receiver. */
                readonly receiverHoldingCids: readonly string[];
            } | Record<string, never>;
            /** @description The change of the sender. */
            readonly senderChangeCids: readonly string[];
            /** @description The update: `update_id`, `offset`, `record_time`. */
            readonly meta: {
                readonly [key: string]: string;
            };
        };
        /** @description Coin that moved. */
        readonly TransferItem: {
            /**
             * @description The kind of item.
             * @constant
             */
            readonly transactionType: "transfer";
            /** @description The action. */
            readonly transactionSubtype: {
                /** @description The template. */
                readonly templateId: string;
                /** @description The choice that was exercised. */
                readonly choice: string;
                /** @description Always null. */
                readonly coinOperation: string | null;
                /** @description The interface of the choice, if any. */
                readonly interfaceId: string | null;
            };
            /** @description The same as in the activity history. */
            readonly eventId: string;
            /** @description The record time. */
            readonly date: string;
            /** @description The sender. */
            readonly sender: components["schemas"]["PartyAndAmount"];
            /** @description The receivers. */
            readonly receivers: readonly components["schemas"]["PartyAndAmount"][];
            /** @description Always zero, an amount of coin. */
            readonly holdingFees: string;
            /** @description Always zero, an amount of coin. */
            readonly appRewardsUsed: string;
            /** @description Always zero, an amount of coin. */
            readonly validatorRewardsUsed: string;
            /** @description Always zero, an amount of coin. */
            readonly svRewardsUsed: string;
            /** @description Always zero, an amount of coin. */
            readonly developmentFundCouponsUsed: string;
            /** @description The receiver of an offer. */
            readonly transferInstructionReceiver: string | null;
            /** @description What was offered, an amount of coin. */
            readonly transferInstructionAmount: string | null;
            /** @description The offer that was made or accepted. */
            readonly transferInstructionCid: (ContractId) | null;
            /** @description The text of the sender. */
            readonly description: string | null;
        };
        /** @description Whether the user is registered. */
        readonly UserStatusAnswer: {
            /** @description Empty while the user is not registered. */
            readonly partyId: string;
            /** @description Whether the user is registered. */
            readonly userOnboarded: boolean;
            /** @description The same: every user has a wallet. */
            readonly userWalletInstalled: boolean;
            /** @description Always false: there are no such rights. */
            readonly hasFeaturedAppRight: boolean;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
