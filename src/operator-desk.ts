import {
  acceptReviewed,
  afterRestore,
  approveOrder,
  bookOutflow,
  type Engine,
  type InspectedClaim,
  inspectClaims,
  type LaneRef,
  type OutflowProblem,
  type OutflowRef,
  type OutflowWord,
  quarantineLane,
  type Reconciled,
  type Restored,
  type ResumedLane,
  type ReviewedPayment,
  type ReviewProblem,
  reconcileAll,
  resumeChain,
  resumeLane,
  returnReviewed,
  reviewedPayments,
  type StrayOutflow,
  strayOutflows,
  type UnapprovedOrder,
  unapprovedOrders,
} from "#facilitator";

/** What a person may ask of the house, and tell it, who runs it. */
export interface OperatorDesk {
  /** Books against chain, now, on every chain. */
  reconcile(): Promise<readonly Reconciled[]>;
  /** What leaves the treasury only when an operator has approved it. `give` is false where nothing of that id waits. */
  readonly approvals: {
    list(): Promise<readonly UnapprovedOrder[]>;
    give(id: string): Promise<boolean>;
  };
  /** What an operator does by hand. */
  readonly operate: {
    inspect(ref: string): Promise<readonly InspectedClaim[]>;
    quarantineLane(lane: LaneRef): Promise<boolean>;
    resumeLane(lane: LaneRef): Promise<ResumedLane | null>;
    resumeChain(slug: string): Promise<string | null>;
    afterRestore(): Promise<Restored | null>;
    strayOutflows(): Promise<readonly StrayOutflow[]>;
    bookOutflow(outflow: OutflowRef, word: OutflowWord): Promise<OutflowProblem | null>;
  };
  /** Payments that wait for a person, and what a person decides. */
  readonly reviews: {
    list(): Promise<readonly ReviewedPayment[]>;
    accept(id: string): Promise<ReviewProblem | null>;
    sendBack(id: string): Promise<ReviewProblem | null>;
  };
}

export function operatorDesk(engine: Engine): OperatorDesk {
  return {
    reconcile: () => reconcileAll(engine),
    approvals: {
      list: () => unapprovedOrders(engine),
      give: (id) => approveOrder(engine, id),
    },
    operate: {
      inspect: (ref) => inspectClaims(engine, ref),
      quarantineLane: (lane) => quarantineLane(engine, lane),
      resumeLane: (lane) => resumeLane(engine, lane),
      resumeChain: (slug) => resumeChain(engine, slug),
      afterRestore: () => afterRestore(engine),
      strayOutflows: () => strayOutflows(engine),
      bookOutflow: (outflow, word) => bookOutflow(engine, outflow, word),
    },
    reviews: {
      list: () => reviewedPayments(engine),
      accept: (id) => acceptReviewed(engine, id),
      sendBack: (id) => returnReviewed(engine, id),
    },
  };
}
