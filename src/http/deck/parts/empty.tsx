/** Where there is nothing to list: what that means. */

export function Empty({ text }: { readonly text: string }): JSX.Element {
  return (
    <p class="empty" safe>
      {text}
    </p>
  )
}
