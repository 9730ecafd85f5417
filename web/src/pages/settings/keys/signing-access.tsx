import type { ResultOf } from '../../../../../src/operations/table.ts';
import { CodeBlock } from '../../../parts/copy.tsx';

/**
 * What clients of SES sign with, this once, as AWS's programs take it. A file of its own: the drawer of a key, which is loaded
 * when it is opened, shows it, too.
 */
export function SigningAccess({
  of: { accessKeyId, secretAccessKey },
}: {
  readonly of: NonNullable<ResultOf<'createKey'>['signing']>;
}) {
  return (
    <section className="space-y-3">
      <h3 className="font-semibold">For clients of Amazon SES</h3>
      <p>
        They sign with these, in place of the key above. They are shown only once, too. Set the client’s
        endpoint (<code className="font-mono text-sm">AWS_ENDPOINT_URL_SESV2</code>) to the URL of the API;
        any region will do.
      </p>
      <CodeBlock
        label="access key"
        code={`AWS_ACCESS_KEY_ID=${accessKeyId}\nAWS_SECRET_ACCESS_KEY=${secretAccessKey}`}
        wrap
      />
    </section>
  );
}
