----------------------------- MODULE MemberSets -----------------------------
(***************************************************************************)
(* Member sets that change, and readers that know only the genesis or a    *)
(* later pin. Time is record time and block height at once.                *)
(*                                                                         *)
(* The adversary holds `stolen` keys. Of a set that is in force, and until *)
(* MaxAge after its end, it holds at most f keys; later it may hold all.   *)
(* It signs anything with keys that it holds. Honest members sign only     *)
(* true states of sets that are in force.                                  *)
(***************************************************************************)
EXTENDS Integers, Sequences, FiniteSets, TLC

CONSTANTS
  Genesis,     \* the keys of set 0
  Spare,       \* keys that may join
  MaxTime,
  MaxAge,      \* a reader refuses certificates that are older
  MaxChanges,
  Reader,      \* "seed": has an honest seed, and pinned the genesis; "pin": reaches thieves only, and pinned a later set;
               \* "none": no reader, for the invariants of the members alone
  Plant        \* the planted fault, or "none"

ASSUME Reader \in {"seed", "pin", "none"}
ASSUME Plant \in {"none", "a reader that asks no links first", "links by f + 1", "two changes at once",
                  "activation without a link", "hash of the members alone"}

VARIABLES
  now,
  chain,       \* the sets that were in force, the last of them is
  since,       \* since[i]: when chain[i] came into force
  decided,     \* decisions that are not in force: [number, to, notBefore]
  everDecided, \* <<the chain before, the set that was decided>>
  links,       \* decisions that q members have certified
  stolen,
  pin,         \* the chain whose last set a wallet's newest release has pinned
  seedReader,  \* its chain, the time since it asked for links (at most MaxAge + 1), and what became of it
  pinReader

vars == <<now, chain, since, decided, everDecided, links, stolen, pin, seedReader, pinReader>>

Keys == Genesis \cup Spare
F(set) == (Cardinality(set) - 1) \div 3
Q(set) == (Cardinality(set) + F(set) + 2) \div 2
Held(set) == Cardinality(stolen \cap set)
Last(sequence) == sequence[Len(sequence)]

(* One change per set: one member is added, removed or replaced. *)
Successors(set) ==
  LET added == {set \cup {new} : new \in Keys \ set}
      removed == {set \ {old} : old \in set}
      replaced == {(set \ {old}) \cup {new} : old \in set, new \in Keys \ set}
  IN {next \in added \cup removed \cup replaced : F(set) > 0 => F(next) > 0}

(* What the hash of a set stands for: the set and all before it. *)
Id(sets, number) ==
  IF Plant = "hash of the members alone" THEN <<sets[number]>> ELSE SubSeq(sets, 1, number)

(* `linkRefusal`: the same function in ledger, engine and readers. *)
IsLinkOf(link, sets) ==
  /\ link.from = Id(sets, Len(sets))
  /\ Plant = "hash of the members alone" \/ link.number = Len(sets)
  /\ link.to \in Successors(Last(sets))

---------------------------------------------------------------------------
(* The ledger and the engines *)

Decide ==
  /\ Len(chain) - 1 + Cardinality(decided) < MaxChanges
  /\ decided = {} \/ Plant = "two changes at once"
  /\ \E to \in Successors(Last(chain)) :
       /\ Held(to) <= F(to)
       /\ decided' = decided \cup {[number |-> Len(chain), to |-> to, notBefore |-> now + 1]}
       /\ everDecided' = everDecided \cup {<<chain, to>>}
  /\ UNCHANGED <<now, chain, since, links, stolen, pin, seedReader, pinReader>>

LinkOf(decision) ==
  [number |-> decision.number, from |-> Id(chain, Len(chain)), to |-> decision.to,
   notBefore |-> decision.notBefore]

Certify ==
  /\ \E decision \in decided :
       /\ LinkOf(decision) \notin links
       /\ links' = links \cup {LinkOf(decision)}
  /\ UNCHANGED <<now, chain, since, decided, everDecided, stolen, pin, seedReader, pinReader>>

(* Any member may submit any link, an old one as well. Blocks pass between two activations. *)
Activate ==
  /\ now >= Last(since) + 2
  /\ \E link \in links \cup
       (IF Plant = "activation without a link" THEN {LinkOf(one) : one \in decided} ELSE {}) :
       /\ IsLinkOf(link, chain)
       /\ link.notBefore <= now
       /\ chain' = Append(chain, link.to)
  /\ since' = Append(since, now)
  /\ decided' = {}
  /\ UNCHANGED <<now, everDecided, links, stolen, pin, seedReader, pinReader>>

(* validator_updates of height H take effect at H + 2. *)
EngineSet ==
  LET inForce == {i \in 1..Len(chain) : i = 1 \/ since[i] + 2 <= now}
  IN chain[CHOOSE i \in inForce : \A other \in inForce : other <= i]

---------------------------------------------------------------------------
(* The adversary *)

IsProtected(i) == i = Len(chain) \/ now <= since[i + 1] + MaxAge

Steal ==
  /\ \E key \in Keys \ stolen :
       /\ stolen' = stolen \cup {key}
       /\ \A i \in 1..Len(chain) :
            IsProtected(i) => Cardinality(stolen' \cap chain[i]) <= F(chain[i])
       /\ \A decision \in decided :
            Cardinality(stolen' \cap decision.to) <= F(decision.to)
  /\ UNCHANGED <<now, chain, since, decided, everDecided, links, pin, seedReader, pinReader>>

CanForgeLink(set) ==
  Held(set) >= IF Plant = "links by f + 1" THEN F(set) + 1 ELSE Q(set)

CanForgeState(set) == Held(set) >= F(set) + 1

Forged(sets) ==
  IF CanForgeLink(Last(sets)) THEN {Append(sets, to) : to \in Successors(Last(sets))} ELSE {}

TrueNext(sets) == {Append(sets, link.to) : link \in {one \in links : IsLinkOf(one, sets)}}

(* All chains from the genesis that the adversary can show, with true and forged links. *)
RECURSIVE Shown(_)
Shown(length) ==
  IF length = 1 THEN {<<Genesis>>}
  ELSE LET shorter == Shown(length - 1)
       IN shorter \cup UNION {Forged(sets) \cup TrueNext(sets) :
                                sets \in {one \in shorter : Len(one) = length - 1}}

---------------------------------------------------------------------------
(* Readers *)

(* The end of a true set, as a reader bounds it; a forged link has any time. *)
EndOf(sets, number) ==
  IF number < Len(chain) /\ SubSeq(sets, 1, number + 1) = SubSeq(chain, 1, number + 1)
  THEN since[number + 1] ELSE MaxTime

(* A false certificate of a set of the reader's chain is fresh, and not after the set's end. *)
CanDeceive(sets) ==
  \E number \in 1..Len(sets) :
    /\ CanForgeState(sets[number])
    /\ number < Len(sets) => EndOf(sets, number) >= now - MaxAge

(* The reader asks its seeds for links. One of them is honest and has all links. *)
AskForLinks ==
  /\ Reader = "seed"
  /\ ~seedReader.disputed
  /\ LET forks == \E i \in 1..Len(chain) :
                    Cardinality(TrueNext(SubSeq(chain, 1, i))) > 1
         forged == \E i \in 1..(Len(chain) - 1) : CanForgeLink(chain[i])
     IN \/ seedReader' = [seedReader EXCEPT
             !.chain = IF Plant = "activation without a link"
                       THEN LET followed == {i \in 1..Len(chain) : \A j \in 1..(i - 1) :
                                               SubSeq(chain, 1, j + 1) \in TrueNext(SubSeq(chain, 1, j))}
                            IN SubSeq(chain, 1, CHOOSE i \in followed : \A other \in followed : other <= i)
                       ELSE chain,
             !.asked = 0,
             !.disputed = forks]
        \/ /\ forged
           /\ seedReader' = [seedReader EXCEPT !.disputed = TRUE]
  /\ UNCHANGED <<now, chain, since, decided, everDecided, links, stolen, pin, pinReader>>

BelieveSeed ==
  /\ Reader = "seed"
  /\ ~seedReader.disputed /\ ~seedReader.deceived
  /\ Plant = "a reader that asks no links first" \/
       seedReader.asked <= MaxAge
  /\ CanDeceive(seedReader.chain)
  /\ seedReader' = [seedReader EXCEPT !.deceived = TRUE]
  /\ UNCHANGED <<now, chain, since, decided, everDecided, links, stolen, pin, pinReader>>

Release ==
  /\ Reader = "pin"
  /\ pin # chain
  /\ pin' = chain
  /\ UNCHANGED <<now, chain, since, decided, everDecided, links, stolen, seedReader, pinReader>>

(* The stated limit: more than f keys of the pinned set deceive this reader. *)
BelievePin ==
  /\ Reader = "pin"
  /\ Len(pin) > 1 /\ ~pinReader.deceived
  /\ Held(Last(pin)) <= F(Last(pin))
  /\ \E sets \in Shown(MaxChanges + 2) :
       /\ Len(sets) >= Len(pin)
       /\ Id(sets, Len(pin)) = Id(pin, Len(pin))
       /\ CanDeceive(sets)
  /\ pinReader' = [pinReader EXCEPT !.deceived = TRUE]
  /\ UNCHANGED <<now, chain, since, decided, everDecided, links, stolen, pin, seedReader>>

---------------------------------------------------------------------------
Tick ==
  /\ now < MaxTime
  /\ now' = now + 1
  /\ seedReader' = [seedReader EXCEPT !.asked = IF @ > MaxAge THEN @ ELSE @ + 1]
  /\ UNCHANGED <<chain, since, decided, everDecided, links, stolen, pin, pinReader>>

Init ==
  /\ now = 0
  /\ chain = <<Genesis>>
  /\ since = <<0>>
  /\ decided = {}
  /\ everDecided = {}
  /\ links = {}
  /\ stolen = {}
  /\ pin = <<Genesis>>
  /\ seedReader = [chain |-> <<Genesis>>, asked |-> MaxAge + 1, disputed |-> FALSE, deceived |-> FALSE]
  /\ pinReader = [deceived |-> FALSE]

Next ==
  \/ Tick \/ Decide \/ Certify \/ Activate \/ Steal
  \/ AskForLinks \/ BelieveSeed \/ Release \/ BelievePin

Spec == Init /\ [][Next]_vars

---------------------------------------------------------------------------
NoReaderIsDeceived == ~seedReader.deceived /\ ~pinReader.deceived

(* Trust ends only if q keys of a set were stolen after its end. *)
NoFalseDispute ==
  seedReader.disputed => \E i \in 1..Len(chain) : Held(chain[i]) >= Q(chain[i])

ActivatedWasDecided ==
  \A i \in 1..(Len(chain) - 1) : <<SubSeq(chain, 1, i), chain[i + 1]>> \in everDecided

EnginesAreSafe == Held(EngineSet) <= F(EngineSet)

Symmetry == Permutations(Genesis) \cup Permutations(Spare)
=============================================================================
