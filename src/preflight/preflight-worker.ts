import { parentPort } from 'node:worker_threads';
import { PreviewError } from '../preview/parsed.ts';
import { checkMail, checkMessage } from './check.ts';
import { mailOfDraft } from './mail.ts';
import type { Answer, Question } from './preflighter.ts';

/** Checks one message after the other for the thread that started this one; see `preflighter.ts`. */
const port = parentPort;
if (port === null) throw new Error('this file runs in a worker thread only');
port.on('message', (question: Question) => {
  void answerTo(question).then((answer) => port.postMessage(answer));
});

async function answerTo({ subject, way }: Question): Promise<Answer> {
  try {
    if ('draft' in subject) return { findings: checkMail(mailOfDraft(subject.draft), way) };
    return { findings: await checkMessage(subject.bytes, way) };
  } catch (error) {
    return { fault: error instanceof PreviewError ? error.message : String(error) };
  }
}
