/**
 * Held by the compiler: the schemas of answers, the typed client's types, and what the endpoints write are the
 * same. Nothing here can fail at run time; `npm run typecheck` does.
 */
import { expectTypeOf, test } from 'vitest';
import type { z } from 'zod';
import type * as client from '../../../src/client/types.ts';
import type { problemJson } from '../../../src/http/problem.ts';
import type * as answers from '../../../src/ingest/http/answers.ts';
import type { attemptsPageSchema } from '../../../src/ingest/http/attempt-answers.ts';
import type { eventsPageSchema } from '../../../src/ingest/http/event-answers.ts';
import type { submissionSchema } from '../../../src/ingest/http/submission-schema.ts';
import type { Shown } from '../../../src/operations/operation.ts';

/** What a schema describes, as it is once it was written as JSON and read again: a member is there or absent. */
type Described<Name extends keyof typeof answers> = Read<Shown<Extract<(typeof answers)[Name], z.ZodType>>>;

type Read<T> = T extends readonly (infer Item)[]
  ? readonly Read<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Read<Exclude<T[Key], undefined>> }
    : T;

test('the schema of a problem describes what is written', () => {
  expectTypeOf<Read<ReturnType<typeof problemJson>>>().toEqualTypeOf<Described<'itemProblemSchema'>>();
});

test('the typed client’s types are what the schemas describe', () => {
  expectTypeOf<Read<client.MessageStatus>>().toEqualTypeOf<Described<'messageStatusSchema'>>();
  expectTypeOf<Read<client.RecipientOutcome>>().toEqualTypeOf<Described<'recipientOutcomeSchema'>>();
  expectTypeOf<Read<client.Receipt>>().toEqualTypeOf<Described<'receiptSchema'>>();
  expectTypeOf<Read<client.Verdict>>().toEqualTypeOf<Described<'verdictSchema'>>();
  expectTypeOf<Read<client.BatchReceipt>>().toEqualTypeOf<Described<'batchReceiptSchema'>>();
  expectTypeOf<Read<client.MessageRecord>>().toEqualTypeOf<Described<'messageRecordSchema'>>();
  expectTypeOf<Read<client.StatusRecord>>().toEqualTypeOf<Described<'statusRecordSchema'>>();
  expectTypeOf<Read<client.MessagesPage>>().toEqualTypeOf<Described<'messagesPageSchema'>>();
  expectTypeOf<Read<client.AttemptsPage>>().toEqualTypeOf<Read<Shown<typeof attemptsPageSchema>>>();
  expectTypeOf<Read<client.EventsPage>>().toEqualTypeOf<Read<Shown<typeof eventsPageSchema>>>();
  expectTypeOf<Read<client.ItemProblem>>().toEqualTypeOf<Described<'itemProblemSchema'>>();
  expectTypeOf<Read<client.Problem>>().toEqualTypeOf<Described<'problemSchema'>>();
});

test('what the typed client sends is what the schema takes', () => {
  expectTypeOf<client.Submission>().toExtend<Shown<typeof submissionSchema>>();
  expectTypeOf<keyof client.Submission>().toEqualTypeOf<keyof z.infer<typeof submissionSchema>>();
});
