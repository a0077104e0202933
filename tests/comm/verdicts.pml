/* tests/comm/verdicts.pml - how ranks of one host agree whether sums were made (src/comm/verdicts.*,
 * src/comm/host_ballots.*), for spin: tests/comm/verdicts_model runs it, with all interleavings of
 * RANKS ranks, DEATHS deaths at any point, and REFUSALS failures of other reasons.
 *
 * MUTANT leaves something out, and must then be found: 1 a second look at the vote of one that has
 * died, 2 the second word, 3 the vote of a rank that leaves. */
#ifndef RANKS
#define RANKS 3
#endif
#ifndef DEATHS
#define DEATHS 2
#endif
#ifndef REFUSALS
#define REFUSALS 1
#endif
#ifndef MUTANT
#define MUTANT 0
#endif
#define SUMS 3
#define MADE 1
#define GOES_ON 2

#if MUTANT == 2
#define WORDS 1
#else
#define WORDS 2
#endif

bool dead[RANKS];
byte deaths = 0;
byte refusals = 0;
byte word[RANKS * WORDS]; /* of each rank: (sum + 1) * 4 + vote */
byte begun[SUMS];         /* how many ranks have begun the sum */
byte verdict[SUMS];       /* 0: nobody has one; 1: not made; 2: made */

#define PLACE(rank, sum) ((rank) * WORDS + (sum) % WORDS)
#define VOTED(rank, sum) (word[PLACE(rank, sum)] >= ((sum) + 1) * 4)
#define VOTE(rank, sum) (word[PLACE(rank, sum)] - ((sum) + 1) * 4)

/* Whoever has a verdict has the same one, also a rank that dies later. */
inline answer(sum, made) {
    assert(verdict[sum] == 0 || verdict[sum] == 1 + (made));
    verdict[sum] = 1 + (made);
    assert((made) || deaths > 0 || refusals > 0)
}

/* Kills ranks at any time. */
active proctype fate() {
    byte victim;
end:
    do
    :: deaths < DEATHS ->
        atomic {
            select(victim : 0 .. RANKS - 1);
            if
            :: !dead[victim] -> dead[victim] = true; deaths++
            :: else
            fi
        }
    :: break
    od
}

proctype rank(byte me) {
    byte sum = 0;
    byte other;
    byte common;
    byte mine;
    bool knows = false;

    do
    :: sum < SUMS ->
        /* It may have seen a death by now. */
        if
        :: dead[me] -> goto over
        :: atomic { !dead[me] && (knows || deaths > 0) -> knows = true }; goto leaves
        :: atomic { !dead[me] && !knows -> begun[sum]++ }
        fi;
        /* The sum ends: with a result only if all have taken part in it. */
        atomic {
            if
            :: begun[sum] == RANKS -> mine = MADE
            :: deaths > 0 -> knows = true; mine = 0
            :: refusals < REFUSALS -> refusals++; mine = 0
            fi;
            if
            :: deaths > 0 -> knows = true
            :: true
            fi
        }
        if
        :: dead[me] -> goto over
        :: atomic {
            !dead[me] -> word[PLACE(me, sum)] = (sum + 1) * 4 + mine + (knows -> 0 : GOES_ON)
        }
        fi;
        if
        :: atomic { mine == 0 && knows && !dead[me] -> answer(sum, 0) }; goto over
        :: else
        fi;
        /* All votes, one after the other. */
        atomic {
            common = MADE + GOES_ON;
            other = 0
        }
        do
        :: dead[me] -> goto over
        :: !dead[me] && other == RANKS -> break
        :: atomic {
            !dead[me] && other < RANKS && VOTED(other, sum) ->
                common = common & VOTE(other, sum);
                other++
        }
        :: !dead[me] && other < RANKS && !VOTED(other, sum) ->
            if
            :: dead[other] ->
                atomic {
                    if
                    :: MUTANT != 1 && VOTED(other, sum) -> common = common & VOTE(other, sum)
                    :: else -> common = common & MADE
                    fi;
                    other++
                }
            :: !dead[other] && (VOTED(other, sum) || dead[me])
            fi
        od;
        atomic {
            if
            :: dead[me] -> goto over
            :: else -> answer(sum, common & MADE)
            fi;
            if
            :: common & GOES_ON -> sum++
            :: else -> goto over
            fi
        }
    :: else -> goto over
    od;
leaves:
    /* A rank that knows of a death begins no more sums, and tells the others. */
    if
    :: dead[me]
    :: atomic { !dead[me] && MUTANT != 3 -> word[PLACE(me, sum)] = (sum + 1) * 4 }; answer(sum, 0)
    :: !dead[me] && MUTANT == 3
    fi;
over:
    skip
}

init {
    byte each;
    atomic {
        for (each : 0 .. RANKS - 1) {
            run rank(each)
        }
    }
}
