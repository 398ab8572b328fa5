import { describe, expect, it } from "vitest";
import { obstacleIn } from "../../../api/mail/obstacle.ts";

describe("obstacleIn", () => {
  it.each([
    ["550 5.1.1 <a@b> No such mailbox", "no-mailbox"],
    ["553 mailbox name not allowed: user unknown", "no-mailbox"],
    ["550 5.2.1 The account is disabled", "no-mailbox"],
    ["552 5.2.2 Mailbox full", "mailbox-full"],
    ["452 4.2.2 over quota", "mailbox-full"],
    ["554 5.7.1 Message rejected as spam", "unwanted"],
    ["550 5.7.26 not authenticated", "unwanted"],
    ["554 no", "unwanted"],
    ["501 bad syntax", "refused"],
    ["451 4.7.1 greylisted, try again", "later"],
    ["421 too busy", "later"],
    ["ECONNREFUSED connect ECONNREFUSED 127.0.0.1:25", "unreachable"],
    ["ETIMEDOUT 550 seconds", "unreachable"],
    ["", "unreachable"],
  ] as const)("of %j is %s", (said, obstacle) => {
    expect(obstacleIn(said)).toBe(obstacle);
  });
});
