ALTER TABLE "outgoing" ADD COLUMN "needs_approval" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "outgoing" ADD COLUMN "approved_at" timestamp (3) with time zone;