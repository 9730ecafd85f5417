import { Check, Copy } from 'lucide-react';
import { type ReactNode, useEffect, useState } from 'react';
import { Button, IconButton } from './button.tsx';
import { classNames } from './class-names.ts';
import { toast } from './toast.tsx';

function useCopy(text: string): [copied: boolean, copy: () => void] {
  const [copied, setCopied] = useState(false);
  useEffect(() => {
    if (!copied) return;
    const end = setTimeout(() => setCopied(false), 1_500);
    return () => clearTimeout(end);
  }, [copied]);
  return [copied, () => copyText(text, () => setCopied(true))];
}

/** Copies a text, or says that it cannot. */
export function copyText(text: string, onDone: () => void): void {
  navigator.clipboard
    .writeText(text)
    .then(onDone, () =>
      toast.error('The browser does not allow copying. Select the text and copy it by hand.'),
    );
}

/** Saves what lies at an address as a file. */
export function saveFile(href: string, name: string): void {
  const link = document.createElement('a');
  link.href = href;
  link.download = name;
  document.body.append(link);
  link.click();
  link.remove();
}

/** Hands a file to the browser to be saved. */
export function saveBlob(blob: Blob, name: string): void {
  const url = URL.createObjectURL(blob);
  saveFile(url, name);
  // The browser has begun to read it by then.
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** Copies a text. With `children` it is a button with words, else a small sign. */
export function CopyButton({
  text,
  label = 'Copy',
  children,
}: {
  readonly text: string;
  readonly label?: string;
  readonly children?: ReactNode;
}) {
  const [copied, copy] = useCopy(text);
  const icon = copied ? Check : Copy;
  if (children === undefined)
    return <IconButton icon={icon} label={copied ? 'Copied' : label} small onClick={copy} />;
  return <Button icon={icon} small label={copied ? 'Copied' : children} onClick={copy} />;
}

/** A value to be copied, whole, however long it is: an id, an address, a record of the DNS. */
export function Copyable({ text }: { readonly text: string }) {
  return (
    <span className="inline-flex max-w-full min-w-0 items-center gap-0.5">
      <span className="min-w-0 font-mono text-sm break-all select-all">{text}</span>
      <CopyButton text={text} />
    </span>
  );
}

/** Lines to be pasted somewhere, or what a machine said. */
export function CodeBlock({
  code,
  label,
  wrap = false,
}: {
  readonly code: string;
  /** What it is, read aloud, and shown above it. */
  readonly label?: string;
  readonly wrap?: boolean;
}) {
  return (
    <figure className="min-w-0 overflow-hidden rounded-md border border-line bg-paper">
      <figcaption className="flex items-center justify-between border-b border-line py-0.5 pr-1 pl-3">
        <span className="caption">{label ?? ''}</span>
        <CopyButton text={code} label={label === undefined ? 'Copy' : `Copy ${label}`} />
      </figcaption>
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: keys can scroll what is too wide
        tabIndex={0}
        className={classNames(
          'max-h-120 overflow-auto px-3 py-2.5 font-mono text-sm leading-relaxed -outline-offset-2',
          wrap && 'break-all whitespace-pre-wrap',
        )}
      >
        {code}
      </pre>
    </figure>
  );
}
