/**
 * Colours come in pairs for light and dark; the system decides, or the button at the top, which sets `color-scheme` on
 * the root.
 */
export const REFERENCE_STYLE = `
html{scroll-padding-top:1rem}
body{display:grid;grid-template-columns:18rem minmax(0,1fr)}
.skip{position:absolute;left:-99rem}.skip:focus{left:1rem;top:1rem;z-index:3;background:var(--back);padding:.5rem 1rem}
aside{position:sticky;top:0;height:100vh;overflow:auto;border-right:1px solid var(--line);background:var(--soft);padding:1.1rem 1rem 3rem}
.brand{display:flex;justify-content:space-between;align-items:center;gap:.5rem;font-weight:700}
.brand a{color:inherit;text-decoration:none}
aside input{width:100%;font:inherit;padding:.45rem .7rem;margin:.9rem 0 .3rem;border:1px solid var(--line);border-radius:8px;background:var(--back);color:inherit}
button{font:inherit;font-size:.8rem;color:inherit;background:var(--back);border:1px solid var(--line);border-radius:8px;padding:.25rem .6rem;cursor:pointer}
button:hover{border-color:var(--accent)}
#found{min-height:1.3rem;margin:0;font-size:.8rem}
aside summary{display:none}
aside h2{font-size:.75rem;letter-spacing:.06em;text-transform:uppercase;margin:1.1rem 0 .3rem;border:0;padding:0;color:var(--quiet)}
aside ul{list-style:none;margin:0;padding:0}
aside li a{display:flex;gap:.5rem;align-items:baseline;padding:.22rem .5rem;border-radius:6px;color:inherit;text-decoration:none;font-size:.88rem;line-height:1.35}
aside li a:hover,aside li a[aria-current]{background:var(--mark)}
aside li a[aria-current]{font-weight:600}
aside .method{min-width:3.1rem;font-size:.62rem;text-align:center}
[hidden]{display:none!important}
main{max-width:92rem;padding:2rem 2.5rem 8rem;margin:0}
main>section{margin:0 0 1rem}
h2{margin:3.5rem 0 0}
.call{display:grid;grid-template-columns:minmax(0,1fr) minmax(0,30rem);gap:0 2.5rem;padding:1.75rem 0 2.25rem;border-bottom:1px solid var(--line)}
.call h3,.area h3{margin:0 0 .4rem;font-size:1.2rem}
.call h3 a{color:inherit;text-decoration:none}.call h3 a:hover::after{content:" #";color:var(--quiet)}
.call h4{margin:1.4rem 0 .3rem;font-size:.92rem}
.examples{position:sticky;top:1rem;align-self:start;max-height:calc(100vh - 2rem);overflow:auto}
.examples h4:first-child{margin-top:0}
.path{margin:.2rem 0 .6rem}.path code{overflow-wrap:anywhere}
.type{font:12.5px/1.5 ui-monospace,monospace;color:var(--quiet);overflow-wrap:anywhere}
.fields{list-style:none;padding:0;margin:.3rem 0}.fields li{border-top:1px solid var(--line);padding:.4rem 0;font-size:.9rem;overflow-wrap:anywhere}
.fields .fields{margin:.3rem 0 0 .2rem;padding-left:.9rem;border-left:2px solid var(--line)}.fields .muted{font-size:.8rem}.fields details{margin:.2rem 0 0 .2rem}
.status{font:600 13px ui-monospace,monospace}
.errors{list-style:none;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(15rem,1fr));gap:.15rem .75rem}
.errors li{display:flex;gap:.4rem;align-items:baseline;font-size:.85rem}
.errors .example{font-size:.78rem;color:var(--quiet)}
.area .grid{display:grid;grid-template-columns:repeat(auto-fill,minmax(26rem,1fr));gap:1rem 1.5rem}
.area .grid h3{font-size:1rem;margin-top:1rem}
.error{border-bottom:1px solid var(--line);padding:1.25rem 0;display:grid;grid-template-columns:minmax(0,1fr) minmax(0,30rem);gap:0 2.5rem}
.error h3{margin:0}.error pre{white-space:pre-wrap;overflow-wrap:anywhere}.error h3 a{color:inherit}.error h4{margin:.9rem 0 .2rem;font-size:.92rem}
@media (max-width:75rem){.call,.error{grid-template-columns:minmax(0,1fr)}.examples{position:static;max-height:none;margin-top:1rem}}
@media (max-width:56rem){
html{scroll-padding-top:8.5rem}
body{display:block}
aside{position:sticky;z-index:2;height:auto;max-height:100vh;background:var(--back);border-right:0;border-bottom:1px solid var(--line);padding:.7rem 1rem}
aside input{margin:.6rem 0 .4rem}
aside summary{display:list-item;padding:.2rem 0}
#found:empty{display:none}
details[open] nav{max-height:60vh;overflow:auto}
main{padding:1.25rem 1rem 5rem}
.area .grid{grid-template-columns:minmax(0,1fr)}
}
@media print{aside{display:none}body{display:block}.call{display:block}}`;
