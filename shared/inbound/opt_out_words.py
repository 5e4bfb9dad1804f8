"""The words and phrases in which people opt out and in, by what they mean. `shared.inbound.keywords` reads them.

US rules name stop, quit, end, revoke, opt out, cancel and unsubscribe, and let people revoke consent in any reasonable
way (47 CFR 64.1200(a)(10)). Kenya's regulator names STOP, STOP SUB and UNSUB.
"""

STOP_WORDS = """
    STOP, STOPP, STOPS, ST0P, STOP ALL, STOPALL, UNSUBSCRIBE, UNSUSCRIBE, UNSUBCRIBE, UNSUB, OPT OUT, OPTOUT, REMOVE ME
    OPT ME OUT, UNSUBSCRIBED, STOP2END, STOPTEXT, DISCONTINUE, CEASE, CEASE AND DESIST
    ARRET, ARRETE, CESSEZ, ARRETER, ARRETEZ, DARRETER, DESABONNER, DESABONNEMENT, DESINSCRIRE, DESINSCRIPTION
    DISISCRIVI, DISISCRIVIMI, CANCELLAMI, DETENER, UITSCHRIJVEN, SLUTA, STOPPA, LEIRATKOZAS, ΑΠΕΓΓΡΑΦΗ, KOMA, AUFHOREN
    AUSTRAGEN, DEZABONARE, DESCADASTRAR, ABMELDEN, ABBESTELLEN, AFMELDEN, AVREGISTRERA, AFMELD
    STOPPEN, REZYGNUJE, WYPISZ MNIE, ODHLASIT, DURDUR, IPTAL, JOOJI, TSAYA, DAKATA, BERHENTI, ITIGIL, BAND KARO
    बंद करो, बंद करें
    ACHA, ACHENI, SIMAMA, KOMESHA, SITISHA, JIONDOE, ONDOA, NIONDOE, NIONDOENI, NITOE
    СТОП, ОТПИСАТЬСЯ, ОТПИСКА, ВІДПИСАТИСЯ, ПРЕКРАТИТЕ, ΣΤΟΠ, ΔΙΑΓΡΑΦΗ
    הסר, הסרה, עצור, תפסיקו, הסירו אותי, إيقاف, أوقف, أوقفوا, توقف, توقفوا, قف, إلغاء, لغو
    አቁም, रोकें, रोको, स्टॉप, বন্ধ, நிறுத்து, ఆపు, หยุด, หยุดส่ง, ยกเลิก
    UNREG, BERHENTI LANGGANAN, TOLONG HENTIKAN, HENTIKAN, ABONELIKTEN CIK, KHONG GUI NUA, DUNG LAI
    ไม่ต้องส่งมาอีก, ไม่ต้องส่ง, 配信停止希望, 配信停止してください, 配信停止お願いします, 停止してください
    停止お願いします, 送らないでください, もう送らないで, もう送らないでください, やめてください
    请停止, 请停止发送, 請停止發送, 不要再发, 不要再发了, 不要再發, 不要再發了, 别再发, 别再发了, 別再發了
    退订回T, 请退订, 보내지 마세요, 그만 보내세요, 그만보내세요, 보내지마세요, 수신거부합니다
    停止, 停止发送, 停止發送, 退订, 退訂, TD退订, T退订, 回T退订, 取消订阅, 取消訂閱, 配信停止, 配信解除, 수신거부
"""
SWAHILI_SPEAKING = ("254", "255", "256", "250", "257", "243", "269")
"""The country codes of Kenya, Tanzania, Uganda, Rwanda, Burundi, DR Congo and the Comoros."""
AMBIGUOUS_STOP_WORDS = """
    CANCEL, END, QUIT, REVOKE, REMOVE, FIN, TD, PARAR, PARE, ALTO, BAJA, CANCELAR, SAIR, REMOVER, FERMA, BASTA
    CANCELLA, HALT, AVSLUTA, LOPETA, PERUUTA, ZATRZYMAJ, YIMA, DUR, RET, HUY, DUNG, NGUNG, TIGIL, बंद
    ОТМЕНА, ОТКАЗ, 중지, 그만, 取消, 解除
"""
"""Words with which a sentence may begin that is about something else."""
START_WORDS = """
    START, UNSTOP, RESUME, SUBSCRIBE, OPT IN, OPTIN
    COMMENCER, REPRENDRE, INICIAR, REANUDAR, ALTA, COMECAR, INIZIA, STARTEN, ANMELDEN, AANMELDEN, STARTA, WZNOW
    ANZA, ENDELEA, BASLA, BASLAT, MULAI, СТАРТ, ПОДПИСАТЬСЯ, ΕΝΑΡΞΗ, התחל, ابدأ, اشترك, ጀምር, शुरू, শুরু, เริ่ม
    开始, 開始, 订阅, 시작
"""
REQUESTS = """
    i no longer wish to receive, i no longer want to receive, i no longer want these, i no longer want your
    discontinue these, please discontinue, get me off, block me, i asked you to stop, i told you to stop
    i already told you to stop, i already asked you to stop
    ne me contactez plus, je me desabonne, me retirer de votre, laissez moi tranquille, je ne souhaite plus recevoir
    entfernen sie mich, ich widerrufe meine einwilligung, lassen sie mich in ruhe, senden sie mir keine sms
    no enviar mas, toa namba yangu, mniondoe
    stop texting, stop messaging, stop sending, stop contacting, stop spamming, stop bothering, stop disturbing
    stop calling and texting, quit texting, quit messaging, quit sending, cease texting, cease sending
    do not text, dont text, do not message, dont message, do not contact, dont contact, do not sms, dont sms
    never text, never message, never contact, unsubscribe from, please unsubscribe, remove my number, remove my name
    delete me, delete my number, delete my data, delete my details, take me off, take my number off, take my name off
    leave me alone, lose my number, cancel my subscription, cancel subscription, cancel the subscription
    end my subscription, end subscription, revoke my consent, revoke consent, withdraw my consent, withdraw consent
    opt me out, opt out of, opting out, unsubscribing, stop receiving, stop getting
    arretez de menvoyer, arretez de mecrire, arrete de menvoyer, ne menvoyez plus, ne menvoie plus, ne mecrivez plus
    ne mecris plus, ne plus menvoyer, ne plus mecrire, ne plus recevoir, desabonnez moi, desinscrivez moi, retirez moi
    supprimez moi, supprimez mon numero, cessez de menvoyer, stop aux
    no me envien, no me envies, no me envie, no me manden, no me mandes, no me mande, no me escriban, no me escribas
    dejen de enviar, dejen de enviarme, deja de enviar, deja de enviarme, dejen de mandar, dejen de mandarme
    deja de mandarme, dejar de recibir, darme de baja, darse de baja, dar de baja, denme de baja, deme de baja
    quitenme, quiteme, quitame, sacame, saquenme, eliminenme, borrenme, borren mi numero, eliminen mi numero
    cancelar suscripcion, cancelar la suscripcion, cancelar mi suscripcion
    parem de enviar, pare de enviar, para de enviar, parem de mandar, pare de mandar, para de mandar, parem de me enviar
    pare de me enviar, para de me enviar, parem de me mandar, pare de me mandar, para de me mandar, nao envie mais
    nao enviem mais, nao mande mais, nao mandem mais, nao me envie, nao me envies, nao me enviem, nao me mande
    nao me mandem, me tire da lista, me tira da lista, me remova, me remove, remova meu numero, remova me
    cancelar inscricao, cancelar assinatura
    nicht mehr schreiben, nicht mehr senden, schreiben sie mir nicht mehr, schreib mir nicht mehr
    senden sie mir nichts mehr, loschen sie meine nummer, loschen sie mich, meine nummer loschen, melden sie mich ab
    mich abmelden, streichen sie mich, nehmen sie mich aus, horen sie auf mir zu schreiben, aus dem verteiler
    non mandatemi, non inviatemi, non mandarmi, non inviarmi, non scrivetemi, non scrivermi, smettete di mandarmi
    smettete di scrivermi, smettete di inviarmi, cancellatemi, toglietemi
    niet meer sturen, stuur mij geen, stuur me geen, schrijf mij uit, schrijf me uit
    prosze nie pisac, nie piszcie, prosze o usuniecie, usuncie moj numer, usun moj numer, rezygnuje z, rezygnacja z
    me tirem da lista, me tirem dessa lista, tirem meu numero, cancelar o recebimento, cancelar recebimento
    sluta skicka, ikke send, slutt a sende, stopp a sende
    prosze nie wysylac, nie wysylajcie, nie piszcie do mnie
    acha kunitumia, acheni kunitumia, acha kutuma, acheni kutuma, usinitumie, msinitumie, mnitoe, nitoeni
    не присылайте, не присылай, не пишите, не пиши, не шлите, не шли, хватит слать, хватит писать, прекратите слать
    прекратите присылать, отпишите, отпиши меня, удалите меня, удалите мой номер, хочу отписаться, уберите меня
    لا ترسل, لا ترسلوا, لا تراسلوني, لا تراسلني, توقف عن, توقفوا عن, الغاء الاشتراك, الغ الاشتراك, الغوا الاشتراك
    mesaj atmayin, mesaj gondermeyin, mesaj atma, mat bhejo, mat bhejiye, मत भेजो, मत भेजिए
    jangan kirim, huwag na kayong mag text, huwag nang mag text
"""
"""Phrases that ask to stop unless words follow that are about something else."""
REFUSALS = """
    no texts, no sms, no marketing, no messages, pas de
       no more, stop the, stop these, stop this, stop all the, stop your, stop with, enough with
    plus de, plus aucun, assez de, stop aux, no mas, ya no mas, basta de, basta con, chega de, sem mais
    keine, keinen, keine weiteren, niente, geen, inga fler, ingen flere, остановите, хватит, не отправляйте, sitaki
    dont send, do not send, dont send me, do not send me, sihitaji, hakuna, istemiyorum
"""
"""Phrases that ask to stop only together with words for messages."""
UNWANTED = """
    i dont want, i do not want, i dont wish, i do not wish, dont want, do not want
    je ne veux plus, je ne veux pas, je ne souhaite plus, no quiero, no quiero mas, ya no quiero, no deseo, no deseo mas
    nao quero, nao quero mais, nao desejo, nao desejo mais, ich will keine, ich mochte keine, ich wunsche keine
    ich will nicht, ich mochte nicht, non voglio, non voglio piu, non desidero, non desidero piu, ik wil geen, nie chce
    nie chce otrzymywac, nie chce juz, не хочу, больше не хочу, لا اريد, ما ابغى, ما اريد, tidak mau
"""
"""Likewise; but before a word to stop, they say the opposite: "I don't want to unsubscribe"."""
COURTESIES = """
    please, pls, plz, plse, kindly, thanks, thanx, thank you, thx, thnx, ty, cheers, hi, hello, hey, dear, sir, madam
    sir madam, team, all of you, now, ok, okay, yes, today, immediately, asap, right away, at once, forever, for good
    permanently, not interested, im not interested, i am not interested, no longer interested, sorry, regards
    non merci, nein danke, no gracias, no grazie, nee bedankt, nao obrigado, nao obrigada, nej tack, nei takk, nej tak
    nicht interessiert, kein interesse, pas interesse, pas interessee, no me interesa, non mi interessa
    fuck off, wrong number, you have the wrong number, best regards, kind regards, have a nice day, god bless, just
    merci, merci de, svp, stp, sil vous plait, sil te plait, bonjour, cordialement, veuillez
    gracias, por favor, porfavor, ya, hola, favor, buenos dias, saludos
    obrigado, obrigada, bom dia, bitte, danke, sofort, hallo, ab sofort
    mit freundlichen grussen, vielen dank, per favore, grazie, per piacere, subito, buongiorno
    asante, tafadhali, ahsante, naomba, sasa, alsjeblieft, alstublieft, aub, dank je, dank u, graag, tack
    snalla, kiitos
    prosze, dziekuje, dong, tolong, terima kasih, po, na, poh, lutfen, tesekkurler, dhanyavad, karo, kripya
    пожалуйста, спасибо, сейчас, срочно, παρακαλω, ευχαριστω, בבקשה, תודה, شكرا, من فضلك, لو سمحت, رجاء, الآن
    धन्यवाद, कृपया, करो, करें, कीजिए
"""
MESSAGES = """
    sub, subs, subscription, subscriptions, sms, smses, txt, txts, msg, msgs, message, messages, text, texts, texting
    texting me, messaging, sending, service, notifications, notification, alerts, alert, promotions, promotion, promos
    promo, promotional, marketing, ads, adverts, advertising, spam, spamming, updates, offers, campaign, campaigns
    newsletter, newsletters, list, mailing list, database, contact list, contacts, communication
    communications, receive
    receiving, receive any, contact, contacting, anything
    pub, pubs, publicite, publicites, publicitaires, promotionnels, message publicitaire, liste, recevoir
    envoi, envoyer
    mensaje, mensajes, mensajitos, publicidad, recibir, lista, promociones, suscripcion, enviarme, escribirme
    mensagem, mensagens, publicidade, promocoes, receber, propaganda
    nachricht, nachrichten, werbung, werbe, mitteilungen, erhalten, bekommen, verteiler, liste
    messaggi, messaggio, pubblicita, ricevere, berichten, bericht, reclame, wiadomosci, wiadomosc, reklam
    meddelanden, meldinger, reklama, langganan, recebimento
    ujumbe, jumbe, meseji, matangazo, orodha, pesan, mesaj, mesajlar, mga text
    рассылку, рассылка, рассылки, сообщение, сообщения, сообщений, смс, реклама, рекламу, рекламы, спам, писать, слать
    الرسائل, رسائل, رسالة, رساله, الاعلانات, اعلانات, الاشتراك, ارسال, الارسال, मैसेज, मेसेज, संदेश, एसएमएस
"""
FILLERS = """
    all, this, these, those, the, that, your, my, mine, our, any, any more, anymore, more, again, further, other, it, me
    us, from, of, in, on, to, everything, ever, number, name, so, much, many, with, for, it now, this number, phone
    off, out, i want to, i would like to, id like to, i wish to, want to, can you, could you, would you, will you
    i, you, u, and, am, a, such, stupid, annoying, unwanted, via, by text, by sms, and calling, calling
    de, des, du, le, la, les, l, vos, ces, ce, mes, me, moi, mon, numero, plus, aucun, aucune, a, votre, par, en, sur
    je, je veux, je souhaite, quiero, deseo, quero, gostaria de, ich mochte, ich will, ich, voglio, я
    los, las, el, estos, esos, sus, su, mas, mi, tu, nunca mas, esta, este, del, al, por, ni, otro, otros
    o, os, as, meu, minha, seus, suas, mim, mais, da, do, das, dos, essas, esses, nenhuma, nenhum, por
    mir, mich, mehr, aus, ihre, ihrer, diese, dieser, weitere, die, der, den, dem, von, an, nummer, sie, ihnen, und
    per, noch
    piu, di, i, gli, questi, vostri, vostra, dalla, altri, mi, mij, meer, uw, van, deze, mi, mnie, do, wiecej, mej
    fler, flere, mojego, numeru
    tena, zenu, zako, hizi, hii, yangu, kwangu, namba, wala, cha, bana, za, ya, kwenye
    мне, меня, больше, нам, ваши, эти, этот, эту, номер, из, на, с, от, и, мой, ваших, своих
    لي, الي, لنا, من, هذه, هذا, مرة, اخرى, بعد, المزيد, رقمي, مزيد, यह, ये, मुझे, और, लगी, अब, वाले, artik
    bana, lagi, ini, saya
"""
"""Words that say nothing about something else."""
GOES_ELSEWHERE = """
    by, at, over, off, of, motion, watch, light, lights, sign, worrying, smoking, drinking, being, order, gap, loss
"""
"""What follows a word to stop where nothing is to be stopped: "stop by at 5", "end of the month"."""
NEGATIONS = """
    dont, do not, never, wont, will not, cant, cannot, can not, didnt, did not, doesnt, does not, not, nicht, nie, nunca
    jamais, ne, non, nao, usiache, не, لا, मत, fin de, fin du, fin des, fin del
"""
"""What says the opposite, anywhere before it: "don't ever stop"; and phrases about another end."""
OF_OTHER_THINGS = """
    order, orders, appointment, booking, reservation, delivery, meeting, visit, table, flight, trip, bus
    bestellung, termin, reservierung, commande, pedido, cita, reserva, ordine, appuntamento
"""
"""What is canceled, or has a stop, where no message is meant: "please cancel my order", "arrêt de bus"."""
NAMES_A_STOP = """
    bus, full, the, a, an, last, next, first, pit, truck, non, each, every, without, le, la, el, un, der, die, das
"""
"""What makes it a thing, just before: "the bus stop"."""
